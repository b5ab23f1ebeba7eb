import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientGone, Errands, type Caller } from '@spillway/contracts';
import { EnvironmentModule, PipelineModule } from '@spillway/pipeline';
import { CapturedLog, type LogLine } from '../support/captured-log';
import { startUpstream, type Upstream } from '../support/scripted-upstream';
import { configStore } from '../support/settings';

const CALLER: Caller = { name: 'shop', priority: 'normal', max_priority: 'critical', routes: null, team: null };
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
};

@Module({})
class ErrandsModule {}

describe('an errand', () => {
  let upstream: Upstream;
  let app: INestApplicationContext;
  let log: CapturedLog;

  beforeEach(async () => {
    upstream = await startUpstream([{ json: ANSWER }]);
    const config = configStore({
      providers: { scripted: { base_url: `${upstream.url}/v1` } },
      models: { m: { provider: 'scripted' } },
      routes: { assistant: { chain: ['m'] } },
    });
    log = new CapturedLog();
    const imports = [EnvironmentModule.forRoot({ config, logger: log }), PipelineModule];
    app = await NestFactory.createApplicationContext({ module: ErrandsModule, imports }, { logger: false });
  });

  afterEach(async () => {
    await app.close();
    await upstream.close();
  });

  const ended = (): readonly LogLine['fields'][] => log.lines.map(({ fields }) => fields);

  const body = (content: string): { model: string; messages: { role: string; content: string }[] } => ({
    model: 'assistant',
    messages: [{ role: 'user', content }],
  });

  it('walks the whole path: model, cache, class and log', async () => {
    const errands = app.get(Errands);
    const first = await errands.run({ body: body('Is it?'), caller: CALLER, priority: 'low', id: 'errand-1' });
    expect(first).toMatchObject({ body: ANSWER, outcome: 'generated', journal: { priority: 'low', attempts: 1 } });
    await new Promise(setImmediate);
    const second = await errands.run({ body: body('Is it?'), caller: CALLER });
    expect(second).toMatchObject({ outcome: 'cache-exact', journal: { cache: 'HIT', priority: 'normal' } });
    expect(upstream.requests).toHaveLength(1);
    expect(ended().filter(fields => fields['key'] === 'shop')).toMatchObject([
      { request_id: 'errand-1', outcome: 'generated', status: 200, priority: 'low' },
      { outcome: 'cache-exact', status: 200 },
    ]);
  });

  it('gets a whole answer even where its body asks for a stream', async () => {
    const streamed = { ...body('Streamed?'), stream: true, stream_options: { include_usage: true } };
    const { body: answer } = await app.get(Errands).run({ body: streamed, caller: CALLER });
    expect(answer).toMatchObject({ object: 'chat.completion' });
    const asked = JSON.parse(upstream.requests[0]?.body ?? '') as object;
    expect(asked).not.toHaveProperty('stream_options');
    expect(asked).not.toMatchObject({ stream: true });
  });

  it('fails as a client would be told, and is counted in the log', async () => {
    upstream.script([{ status: 500, text: 'broken' }]);
    await expect(app.get(Errands).run({ body: body('Broken?'), caller: CALLER })).rejects.toMatchObject({
      status: 502,
      code: 'upstream_error',
    });
    expect(ended()).toContainEqual(expect.objectContaining({ outcome: 'upstream-failed', status: 502 }));
  });

  it('ends with the reason of its signal', async () => {
    upstream.script([{ no_response: 'hang' }]);
    const leaving = new AbortController();
    const run = app.get(Errands).run({ body: body('Hanging?'), caller: CALLER, signal: leaving.signal });
    setTimeout(() => leaving.abort(new ClientGone('Cancelled.')), 50);
    await expect(run).rejects.toMatchObject({ outcome: 'client-gone' });
  });
});
