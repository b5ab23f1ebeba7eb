import { isJsonObject, type JsonObject } from '@spillway/contracts';
import type { Environment } from './environment';

/** Where `npm run simulator` listens. */
export const SIMULATOR_URL = 'http://127.0.0.1:9100/v1';
const OPENAI_MODEL = 'gpt-4o-mini';
const WHAT_TO_CALL = ['providers', 'models', 'routes', 'passthrough'];

/** Whether a configuration says nothing of what to call, so that the built-in answer applies. */
export function usesBuiltIn(file: unknown): file is JsonObject {
  return isJsonObject(file) && WHAT_TO_CALL.every(section => !Object.hasOwn(file, section));
}

export function hasOpenAi(environment: Environment): boolean {
  return environment.openaiApiKey !== undefined || environment.openaiBaseUrl !== undefined;
}

/** One route, `assistant`, to the model of the environment, or else to the simulator; as a file would say it. */
export function builtIn(environment: Environment, simulatorUrl: string): Readonly<Record<string, unknown>> {
  if (!hasOpenAi(environment)) {
    return {
      providers: { simulator: { base_url: simulatorUrl } },
      models: { simulator: { provider: 'simulator' } },
      routes: { assistant: { chain: ['simulator'] } },
    };
  }
  const model = environment.openaiModel ?? OPENAI_MODEL;
  return {
    providers: {
      openai: { base_url: '${OPENAI_BASE_URL:-https://api.openai.com/v1}', api_key: '${OPENAI_API_KEY:-}' },
    },
    models: { [model]: { provider: 'openai' } },
    routes: { assistant: { chain: [`\${OPENAI_MODEL:-${OPENAI_MODEL}}`] } },
    passthrough: 'openai',
  };
}
