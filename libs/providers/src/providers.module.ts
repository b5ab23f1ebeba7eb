import { Module } from '@nestjs/common';
import { ClockWatch } from './clock-watch';
import { Providers } from './providers';

/** Offers the clients of all providers. */
@Module({ providers: [ClockWatch, Providers], exports: [ClockWatch, Providers] })
export class ProvidersModule {}
