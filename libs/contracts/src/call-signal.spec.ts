import { getEventListeners } from 'node:events';
import { CallController, ControllerBelow, type CallSignal } from './call-signal';

interface Controller {
  readonly signal: CallSignal;
  abort(reason: unknown): void;
}

describe.each<[string, () => Controller]>([
  ['AbortController', () => new AbortController()],
  ['CallController', () => new CallController()],
])('a signal of a call: %s', (_name, make) => {
  it('tells each that listens once, in order, and of the first reason', () => {
    const controller = make();
    const heard: string[] = [];
    controller.signal.addEventListener('abort', () => heard.push(`one ${String(controller.signal.reason)}`));
    controller.signal.addEventListener('abort', () => heard.push('two'), { once: true });
    expect(controller.signal.aborted).toBe(false);
    expect(() => controller.signal.throwIfAborted()).not.toThrow();
    controller.abort('late');
    controller.abort('later');
    expect(heard).toEqual(['one late', 'two']);
    expect(controller.signal.aborted).toBe(true);
    expect(() => controller.signal.throwIfAborted()).toThrow('late');
  });

  it('tells nobody that has stopped listening, even while others are told, or that came too late', () => {
    const controller = make();
    const { signal } = controller;
    const heard: string[] = [];
    const gone = (): unknown => heard.push('gone');
    const second = (): unknown => heard.push('second');
    signal.addEventListener('abort', gone);
    signal.addEventListener('abort', () => {
      heard.push('first');
      signal.removeEventListener('abort', second);
      signal.addEventListener('abort', () => heard.push('too late'));
    });
    signal.addEventListener('abort', second);
    signal.removeEventListener('abort', gone);
    controller.abort('now');
    expect(heard).toEqual(['first']);
  });
});

describe('a controller below a signal', () => {
  it('is aborted with it, or by itself', () => {
    const above = new AbortController();
    const [below, alone] = [new ControllerBelow(above.signal), new ControllerBelow(above.signal)];
    alone.abort('alone');
    above.abort('above');
    expect([below.reason, alone.reason, new ControllerBelow(above.signal).reason]).toEqual(['above', 'alone', 'above']);
  });

  it('leaves nothing behind at one that lasts longer', () => {
    const above = new AbortController();
    const below = new ControllerBelow(above.signal);
    expect(getEventListeners(above.signal, 'abort')).toHaveLength(1);
    below.leave();
    expect(getEventListeners(above.signal, 'abort')).toEqual([]);
    above.abort('above');
    expect(below.aborted).toBe(false);
  });
});
