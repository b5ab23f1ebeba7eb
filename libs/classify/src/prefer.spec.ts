import { asyncPreference } from './prefer';

describe('the header Prefer', () => {
  it.each([
    ['respond-async', null],
    ['Respond-Async; foo=bar', null],
    ['handling=lenient, respond-async', null],
    ['respond-async, wait=10', 10_000],
    ['wait=10,RESPOND-ASYNC', 10_000],
    ['respond-async, WAIT = "3"', 3_000],
    ['respond-async, wait=5; q=1, wait=7', 5_000],
    ['respond-async, wait=0', null],
    ['respond-async, wait=soon', null],
    ['respond-async, wait=-1', null],
  ])('%s: a job after %p ms', (header, waitMs) => {
    expect(asyncPreference(header)).toEqual({ waitMs });
  });

  it.each([undefined, '', 'wait=10', 'respond-asynchronously', 'return=minimal'])('%s: no job', header => {
    expect(asyncPreference(header)).toBeNull();
  });
});
