import { ask, askForStream, callerOf, failureOf } from '../support/caller';
import { startInstallation, type Installation } from '../support/installation';
import { eventually } from '../support/operator';
import type { SpillwayProcess } from '../support/spillway';

const KEY = 'sk-caller-11223344556677';
const LOW_KEY = 'sk-low-99887766554433';
const ADMIN_KEY = 'sk-admin-eeff00112233';
const PROMPT = 'My password is swordfish-42, is that safe?';
const AUTHORIZATION = { authorization: `Bearer ${ADMIN_KEY}` };

const CONFIGURATION = {
  models: {
    good: { provider: 'simulator' },
    bad: { provider: 'simulator' },
    slow: { provider: 'simulator', limits: { inflight: 1 }, headroom: 0 },
  },
  routes: {
    assistant: { chain: ['good'] },
    shaky: { chain: ['bad', 'good'] },
    narrow: { chain: ['slow'] },
    excused: { chain: ['bad'], fallback_response: { normal: 'Sorry, not now.' } },
  },
  classify: [
    { when: { route: 'no-such' }, priority: 'low' },
    { when: { header: { 'x-feature': 'search' } }, priority: 'low' },
  ],
  keys: [
    { name: 'shop', key: KEY },
    { name: 'batch', key: LOW_KEY, max_priority: 'low', priority: 'low', limits: { rpm: 2 } },
  ],
  admin: { key: ADMIN_KEY },
};

interface Explanation {
  readonly outcome: string;
  readonly decisions: readonly { readonly kind: string }[];
}

describe('an explanation says', () => {
  let installation: Installation;
  let gateway: SpillwayProcess;
  let other: SpillwayProcess;

  beforeAll(async () => {
    installation = await startInstallation();
    [gateway, other] = await Promise.all([
      installation.start('all', CONFIGURATION),
      installation.start('all', CONFIGURATION),
    ]);
    installation.simulator.configure('bad', { faults: [{ kind: 'status', status: 503 }] });
    installation.simulator.configure('slow', { latency: { first_token_ms: 1_500, tokens_per_s: 0 } });
  });

  afterAll(() => installation.stop());

  const named = (id: string, headers: object = {}) => ({ headers: { 'x-request-id': id, ...headers } });
  const shop = (path = '/v1') => callerOf(gateway.url, { key: KEY, path });
  const batch = () => callerOf(gateway.url, { key: LOW_KEY });
  const look = (id: string, { url } = gateway) => fetch(`${url}/admin/explain/${id}`, { headers: AUTHORIZATION });
  const explain = async (id: string, where = gateway): Promise<Explanation> => {
    const response = await look(id, where);
    expect(response.status).toBe(200);
    return (await response.json()) as Explanation;
  };
  const ofKind = async (id: string, kind: string): Promise<readonly object[]> =>
    (await explain(id)).decisions.filter(decision => decision.kind === kind);
  const untilDecided = (id: string, kind: string): Promise<number> =>
    eventually(async () => (await look(id)).ok && (await ofKind(id, kind)).length > 0);

  it('something for every request id that is kept, however long', async () => {
    const id = 'r'.repeat(128);
    await ask(shop(), 'assistant', 'A long name?', named(id));
    expect(await explain(id)).toMatchObject({ requestId: id });
    expect((await look(`${id}${'r'.repeat(2_000)}`)).status).toBe(404);
  });

  it('the class and why, what it cost to wait, who answered and how', async () => {
    await ask(shop(), 'assistant', PROMPT, named('plain'));
    expect(await explain('plain')).toMatchObject({
      requestId: 'plain',
      key: 'shop',
      route: 'assistant',
      priority: 'normal',
      outcome: 'generated',
      status: 200,
      code: null,
      cache: { status: 'MISS', tier: null, ageS: null },
      model: 'good',
      attempts: 1,
      tokens: { input: expect.any(Number) as number, output: expect.any(Number) as number },
      decisions: [
        { kind: 'class', priority: 'normal', by: 'key', maxWaitMs: 15_000, deadlineMs: 0 },
        { kind: 'cache', tier: 'exact', result: 'miss' },
        { kind: 'cache', tier: 'canonical' },
        { kind: 'cache', tier: 'semantic' },
        { kind: 'turn', model: 'good', from: 'redis' },
        { kind: 'attempt', model: 'good', status: '200' },
      ],
    });
  });

  it.each([
    ['the path', 'path', {}, '/critical/v1', { by: 'path', priority: 'critical' }],
    ['the header', 'header', { 'x-spillway-priority': 'low' }, '/v1', { by: 'header', priority: 'low' }],
    ['a rule', 'rule', { 'x-feature': 'search' }, '/v1', { by: 'rule', rule: 1, priority: 'low' }],
  ])('that %s gave the class', async (_, id, headers, path, decision) => {
    await ask(shop(path), 'assistant', `${id}?`, named(id, headers));
    expect(await ofKind(id, 'class')).toMatchObject([decision]);
  });

  it('that a class was lowered to what the key may use, and which limit of the caller refused', async () => {
    const headers = { 'x-spillway-priority': 'critical' };
    await ask(batch(), 'assistant', 'lowered?', named('lowered', headers));
    expect(await ofKind('lowered', 'class')).toMatchObject([
      { priority: 'low', by: 'header', loweredFrom: 'critical' },
    ]);
    await ask(batch(), 'assistant', 'second?');
    await failureOf(ask(batch(), 'assistant', 'third?', named('refused')));
    expect(await explain('refused')).toMatchObject({ outcome: 'rejected-limit', code: 'rate_limit_exceeded' });
    expect(await ofKind('refused', 'caller-limit')).toMatchObject([{ policy: 'key-requests' }]);
  });

  it('which tier of the cache answered, and why one was not looked into', async () => {
    await eventually(async () => (await ask(shop(), 'assistant', PROMPT, named('hit'))).headers.has('age'));
    expect(await explain('hit')).toMatchObject({
      outcome: 'cache-exact',
      cache: { status: 'HIT', tier: 'exact' },
      decisions: [{ kind: 'class' }, { kind: 'cache', tier: 'exact', result: 'hit' }],
    });
    await ask(shop(), 'assistant', PROMPT, named('no-cache', { 'cache-control': 'no-cache' }));
    expect(await ofKind('no-cache', 'cache')).toContainEqual({
      kind: 'cache',
      tier: 'exact',
      result: 'skipped',
      why: 'caller',
    });
    await ask(shop(), 'assistant', 'What is the weather today?', named('ruled-out'));
    expect(await ofKind('ruled-out', 'cache')).toContainEqual({
      kind: 'cache',
      tier: 'canonical',
      result: 'skipped',
      why: 'volatile',
    });
  });

  it('each attempt with its status and time', async () => {
    await askForStream(shop(), 'shaky', PROMPT, named('moved-on'));
    expect(await ofKind('moved-on', 'attempt')).toEqual([
      {
        kind: 'attempt',
        model: 'bad',
        status: '503',
        failure: expect.any(String) as string,
        ms: expect.any(Number) as number,
        tokens: { input: 0, output: 0 },
      },
      {
        kind: 'attempt',
        model: 'good',
        status: '200',
        ms: expect.any(Number) as number,
        firstContentMs: expect.any(Number) as number,
        tokens: expect.any(Object) as object,
      },
    ]);
  });

  it('what a fallback text stands for', async () => {
    await ask(shop(), 'excused', PROMPT, named('excused'));
    expect(await explain('excused')).toMatchObject({ outcome: 'fallback-response', degraded: 'fallback-response' });
    expect(await ofKind('excused', 'fallback')).toMatchObject([{ insteadOf: 'upstream_error' }]);
  });

  it('who shared the answer of whom', async () => {
    const leader = ask(shop(), 'narrow', 'shared?', named('leader'));
    await untilDecided('leader', 'turn');
    await Promise.all([leader, ask(shop(), 'narrow', 'shared?', named('follower'))]);
    expect(await ofKind('leader', 'coalesce')).toMatchObject([{ role: 'leads', with: 'follower' }]);
    expect(await ofKind('follower', 'coalesce')).toMatchObject([{ role: 'follows', with: 'leader' }]);
  });

  it('what a call waits for while it waits', async () => {
    const first = ask(shop(), 'narrow', 'first?', named('first'));
    await untilDecided('first', 'turn');
    const second = ask(shop(), 'narrow', 'second?', named('second'));
    await untilDecided('second', 'queued');
    expect(await explain('second')).toMatchObject({ outcome: 'under-way' });
    await Promise.all([first, second]);
    expect(await ofKind('second', 'turn')).toMatchObject([{ model: 'slow', waitMs: expect.any(Number) as number }]);
  });

  it('the same in whichever process it is asked', async () => {
    await ask(shop(), 'assistant', 'elsewhere?', named('elsewhere'));
    expect(await explain('elsewhere', other)).toEqual(await explain('elsewhere'));
  });

  it('nothing of a call that nobody knows', async () => {
    const response = await look('never-seen', other);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      'not_found',
    ]);
  });

  it('nothing to whoever has no admin key', async () => {
    const response = await fetch(`${gateway.url}/admin/explain/plain`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(response.status).toBe(401);
  });

  it('no prompt, no answer and no key', async () => {
    const { text } = await ask(shop(), 'assistant', PROMPT, named('quiet', { 'cache-control': 'no-store' }));
    const told = await (await look('quiet')).text();
    for (const secret of [PROMPT, 'swordfish', text, KEY, ADMIN_KEY]) expect(told).not.toContain(secret);
  });
});
