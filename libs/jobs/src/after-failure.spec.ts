import {
  InvalidRequest,
  NoModelAvailable,
  NotAllowed,
  QueueFull,
  QueueTimeout,
  RateLimitExceeded,
  RefusedByModel,
  ShuttingDown,
  UnexpectedError,
  UpstreamError,
  UpstreamTimeout,
  type SpillwayError,
} from '@spillway/contracts';
import { afterFailure, DEFAULT_RETRY, type AfterFailure } from './after-failure';

const HOUR = 3_600_000;

function after(error: SpillwayError, attempt = 1, random = 1, ageMs = 0): AfterFailure {
  return afterFailure({ error, attempt, ageMs, oldestMs: HOUR }, DEFAULT_RETRY, random);
}

const failing = new UpstreamError('The model failed.');

describe('after a failed attempt', () => {
  it('the longest wait doubles from 1 s to 60 s, and the sixth attempt is the last', () => {
    const waits = [1, 2, 3, 4, 5, 6].map(attempt => after(failing, attempt));
    const again = (inMs: number): AfterFailure => ({ kind: 'again', inMs, counted: true });
    expect(waits).toEqual([...[1_000, 2_000, 4_000, 8_000, 16_000].map(again), { kind: 'failed' }]);
    const patient = { ...DEFAULT_RETRY, attempts: 20 };
    expect(afterFailure({ error: failing, attempt: 12, ageMs: 0, oldestMs: HOUR }, patient, 1)).toEqual(again(60_000));
  });

  it('the wait is anything from nothing to the longest', () => {
    expect([0, 0.25, 0.5].map(random => after(failing, 3, random))).toMatchObject(
      [0, 1_000, 2_000].map(inMs => ({ inMs })),
    );
  });

  it('what the error asks for is waited at least, and not by all to the same moment', () => {
    const error = new UpstreamError('Later.', { retryAfterMs: 30_000 });
    expect([0, 1].map(random => after(error, 1, random))).toMatchObject([{ inMs: 30_000 }, { inMs: 31_000 }]);
  });

  it.each([
    new QueueFull('Full.'),
    new QueueTimeout('No turn.'),
    new RateLimitExceeded('Your limit.'),
    new ShuttingDown('Stopping.'),
  ])('an attempt does not count where it was not the turn of the job: $code', error => {
    expect(after(error, DEFAULT_RETRY.attempts, 0)).toEqual({ kind: 'again', inMs: 0, counted: false });
  });

  it.each([failing, new UpstreamTimeout('Late.'), new NoModelAvailable('None.'), new UnexpectedError('What?')])(
    'an attempt counts where a model was to blame, or we: $name',
    error => {
      expect(after(error)).toMatchObject({ kind: 'again', counted: true });
    },
  );

  it.each([
    new InvalidRequest('No.'),
    new NotAllowed('No.'),
    new RefusedByModel(422, '{}', 'application/json'),
    new NoModelAvailable('The quota is used up.', { retryable: false }),
  ])('an attempt is the last where another cannot help: $name', error => {
    expect(after(error)).toEqual({ kind: 'failed' });
  });

  it('a job that is too old is given up, even if it was never its turn', () => {
    expect(after(failing, 1, 0, HOUR)).toEqual({ kind: 'failed' });
    expect(after(new QueueTimeout('No turn.'), 1, 0, HOUR)).toEqual({ kind: 'failed' });
    expect(after(new QueueTimeout('No turn.'), 1, 0, HOUR - 1)).toMatchObject({ kind: 'again' });
  });
});
