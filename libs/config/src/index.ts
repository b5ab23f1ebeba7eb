export { ConfigModule } from './config.module';
export { ConfigStore } from './config-store';
export { ConfigurationError, describe as describeProblem } from './configuration-error';
export { jsonSchema } from './json-schema';
export { readEnvironment, type Environment } from './environment';
export { loadSettings, needsSimulator } from './load';
export type { ClassifyRule, ConfiguredModel, ServerSettings, Settings } from './settings';
