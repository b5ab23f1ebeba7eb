import {
  ClientGone,
  DeadlineExceeded,
  InvalidRequest,
  NoModelAvailable,
  QueueFull,
  QueueTimeout,
  RefusedByModel,
  ShuttingDown,
  SystemClock,
  UpstreamAuthError,
  UpstreamError,
  UpstreamTimeout,
  type Answer,
  type Call,
  type Priority,
} from '@spillway/contracts';
import { incomingCall } from '../../../test/support/calls';
import { configStore } from '../../../test/support/settings';
import { DegradeStage } from './degrade.stage';

const { current: settings } = configStore({
  providers: { local: { base_url: 'http://127.0.0.1:9/v1' } },
  models: { best: { provider: 'local' } },
  routes: { assistant: { chain: ['best'], fallback_response: { critical: 'Please try again.', low: '' } } },
});
const stage = new DegradeStage(new SystemClock());

function callOf(priority: Priority, changes: Partial<Call> = {}): Call {
  const route = settings.target('assistant');
  if (route === undefined) throw new Error('no route');
  return { ...incomingCall(), priority, route, models: route.chain, turnBy: 0, ...changes };
}

const failing = (error: Error) => (): Promise<Answer> => Promise.reject(error);

async function bodyOf(answer: Answer): Promise<unknown> {
  for await (const part of answer.parts) return part.body;
  return undefined;
}

describe('the fallback answer', () => {
  it.each([
    new QueueFull('full'),
    new UpstreamError('broken'),
    new UpstreamAuthError('refused'),
    new NoModelAvailable('none'),
    new ShuttingDown('stopping'),
    new QueueTimeout('waited'),
    new UpstreamTimeout('slow'),
    new DeadlineExceeded('late'),
  ])('replaces %p', async error => {
    const call = callOf('critical');
    const answer = await stage.handle(call, failing(error));
    expect(answer.outcome).toBe('fallback-response');
    expect(call.journal.degraded).toBe('fallback-response');
    expect(await bodyOf(answer)).toMatchObject({
      object: 'chat.completion',
      model: 'assistant',
      choices: [{ message: { role: 'assistant', content: 'Please try again.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    });
  });

  it('may be empty, which is not the same as none', async () => {
    const answer = await stage.handle(callOf('low'), failing(new UpstreamError('broken')));
    expect(await bodyOf(answer)).toMatchObject({ choices: [{ message: { content: '' } }] });
    await expect(stage.handle(callOf('normal'), failing(new UpstreamError('broken')))).rejects.toThrow('broken');
  });

  it.each([
    new InvalidRequest('bad'),
    new RefusedByModel(400, '{}', 'application/json'),
    new ClientGone('left'),
    new TypeError('bug'),
  ])('does not hide %p', async error => {
    await expect(stage.handle(callOf('critical'), failing(error))).rejects.toBe(error);
  });

  it('is no embedding', async () => {
    const call = callOf('critical', { operation: 'embeddings' });
    await expect(stage.handle(call, failing(new UpstreamError('broken')))).rejects.toThrow('broken');
  });
});
