const SLOT = 'spillway-admin-key';

/** The server wants the admin key, or another one. */
export class KeyNeeded extends Error {}

/** Kept by the tab and gone with it. */
export const adminKey = {
  get: () => sessionStorage.getItem(SLOT),
  set: key => sessionStorage.setItem(SLOT, key),
  forget: () => sessionStorage.removeItem(SLOT),
};

/** Asks this server, with the key in a header: an address would end up in histories and logs. */
async function ask(path) {
  const key = adminKey.get();
  const headers = { accept: 'application/json, text/plain', ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(path, { headers, cache: 'no-store' });
  if (response.status === 401) throw new KeyNeeded(key ? 'This is not the key.' : '');
  return response;
}

async function json(path) {
  const response = await ask(path);
  const body = await response.json();
  // A lost part is worth a look, too.
  if (!response.ok && response.status !== 503) throw new Error(body.error?.message ?? `status ${response.status}`);
  return body;
}

/** All that the page shows at once. */
export async function look() {
  const [status, ready, queues, metrics] = await Promise.all([
    json('/admin/status'),
    json('/readyz'),
    json('/admin/queues?limit=20'),
    ask('/metrics').then(response => response.text()),
  ]);
  return { status, ready, queues, metrics };
}

/** Null: nobody knows this id. */
export async function explain(requestId) {
  const response = await ask(`/admin/explain/${encodeURIComponent(requestId)}`);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}
