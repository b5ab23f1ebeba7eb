import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startUpstream } from '../support/scripted-upstream';
import { startSpillway } from '../support/spillway';

it.each([true, false])('stalled client, streaming %s', async streaming => {
  const upstream = await startUpstream([
    streaming
      ? { headers: { 'content-type': 'text/event-stream' }, sse: [...Array(3000).fill({ gen_text: 10000 }), '[DONE]'], end: 'hang' }
      : { json: { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a'.repeat(30_000_000) } }] } },
  ]);
  const p = await startSpillway({
    configuration: {
      server: { drain_ms: 500 },
      providers: { u: { base_url: `${upstream.url}/v1` } },
      models: { m: { provider: 'u' } },
      routes: { assistant: { chain: ['m'] } },
    },
  });
  const { port } = new URL(p.url);
  const socket = connect(Number(port), '127.0.0.1');
  const body = JSON.stringify({ model: 'assistant', stream: streaming, messages: [{ role: 'user', content: 'x' }] });
  socket.pause();
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  await sleep(1500);
  const at = Date.now();
  const code = await Promise.race([p.stop(), sleep(8000).then(() => 'hangs')]);
  console.log('exit', code, Date.now() - at, p.output().slice(-600));
  p.kill('SIGKILL');
  socket.destroy();
  await upstream.close();
});
it('half-sent request', async () => {
  const p = await startSpillway({ configuration: { server: { drain_ms: 500 }, providers: { u: { base_url: `http://127.0.0.1:9/v1` } }, models: { m: { provider: 'u' } } } });
  const socket = connect(Number(new URL(p.url).port), '127.0.0.1');
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`);
  const idle = connect(Number(new URL(p.url).port), '127.0.0.1');
  await sleep(300);
  const at = Date.now();
  const code = await Promise.race([p.stop(), sleep(8000).then(() => 'hangs')]);
  console.log('half: exit', code, Date.now() - at);
  p.kill('SIGKILL');
  socket.destroy(); idle.destroy();
});
