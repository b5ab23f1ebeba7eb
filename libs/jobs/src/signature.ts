import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

export interface SignedHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * Signs a message as Standard Webhooks describe: HMAC-SHA256 over `id.timestamp.body`.
 * @param secret `whsec_` and the key in base64
 * @param seconds since the epoch
 */
export function sign(id: string, seconds: number, body: string, secret: string): SignedHeaders {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}
