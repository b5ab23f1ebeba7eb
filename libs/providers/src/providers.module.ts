import { Module } from '@nestjs/common';
import { Providers } from './providers';

/** Offers the clients of all providers. */
@Module({ providers: [Providers], exports: [Providers] })
export class ProvidersModule {}
