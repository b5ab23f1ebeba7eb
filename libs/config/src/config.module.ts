import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigStore } from './config-store';

/** Gives every module the one ConfigStore that the app has made. */
@Module({})
export class ConfigModule {
  static forRoot(store: ConfigStore): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: ConfigStore, useValue: store }],
      exports: [ConfigStore],
    };
  }
}
