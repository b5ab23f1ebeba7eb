import { errors } from 'undici';
import { UpstreamFailure, type FailureKind } from './upstream-failure';

/** Codes of answers that arrived but are no HTTP, or not compressed as they claim. */
const GARBLED = /^(?:HPE_|Z_|ERR_)/;

/** Codes of a machine or process that has no descriptor, port or memory left for one more connection. */
const SPENT = /^(?:EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS|ENOMEM)$/;

/** What an error of the transport means for the chain. Errors without a code are no faults of a provider. */
export function failureOfTransport(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof UpstreamFailure || code === null) return error;
  const kind = kindOf(code);
  const what = kind === 'protocol' ? 'The answer of the model cannot be read' : 'The connection to the model failed';
  return new UpstreamFailure(kind, `${what} (${code}).`, { cause: error });
}

function kindOf(code: string): FailureKind {
  if (SPENT.test(code)) return 'no-socket';
  return GARBLED.test(code) ? 'protocol' : 'network';
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, errors: causes } = error as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  // What is no HTTP has no code of its own in undici.
  if (error instanceof errors.HTTPParserError) return 'HPE_INVALID';
  // Several addresses were tried: the first tells as much as any.
  return causes?.[0] === undefined ? null : codeOf(causes[0]);
}
