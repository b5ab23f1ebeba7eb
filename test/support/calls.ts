import { Journal, type Caller, type Controls, type IncomingCall, type JsonObject } from '@spillway/contracts';
import { parseControls } from '../../libs/classify/src/controls';

const caller: Caller = { name: 'anonymous', priority: 'normal', max_priority: 'critical', routes: null, team: null };

const controls = parseControls(null, {}, {});

/** A call as the edge hands it in, with whatever a test wants to be different. */
export function incomingCall(
  changes: Omit<Partial<IncomingCall>, 'controls' | 'caller'> & {
    readonly controls?: Partial<Controls>;
    readonly caller?: Partial<Caller>;
  } = {},
): IncomingCall {
  const body: JsonObject = { model: 'assistant', messages: [{ role: 'user', content: 'Hello?' }] };
  return {
    id: 'call-1',
    traceId: '0'.repeat(32),
    operation: 'chat',
    receivedAt: Date.now(),
    body,
    streaming: false,
    headers: {},
    signal: new AbortController().signal,
    journal: new Journal(),
    ...changes,
    caller: { ...caller, ...changes.caller },
    controls: { ...controls, ...changes.controls },
  };
}
