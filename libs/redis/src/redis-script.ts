import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script, sent by its hash and in full only when the server does not know it. */
export interface RedisScript {
  readonly name: string;
  run(connection: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
}

/**
 * Defines a script. Only an explicit NOSCRIPT is answered by sending the text, which the server then remembers; no
 * other error is ever replayed. The SCRIPT command is not used: some proxies forbid it.
 */
export function defineScript(name: string, lua: string, numberOfKeys: number): RedisScript {
  const hash = createHash('sha1').update(lua).digest('hex');
  return {
    name,
    async run(connection, keys, values) {
      if (keys.length !== numberOfKeys)
        throw new Error(`Script ${name} takes ${numberOfKeys} keys, got ${keys.length}`);
      try {
        return await connection.evalsha(hash, numberOfKeys, ...keys, ...values);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return connection.eval(lua, numberOfKeys, ...keys, ...values);
      }
    },
  };
}
