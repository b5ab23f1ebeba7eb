/** Each row may import the rows above it; never its own row, never a row below. */
const layers = [
  ['contracts'],
  ['config', 'telemetry', 'redis'],
  ['providers', 'quota', 'health', 'explain'],
  ['classify', 'admission', 'cache', 'coalescing', 'degradation', 'scheduling', 'routing', 'jobs'],
  ['seeding'],
  ['pipeline'],
];

/** One owner per vendor SDK: replacing a vendor touches one lib. BullMQ has two, see docs/adr/0010. */
const owners = {
  bullmq: 'scheduling|jobs',
  '@nestjs/bullmq': 'scheduling',
  ioredis: 'redis',
  openai: 'providers',
  '@qdrant/js-client-rest': 'cache',
  '@huggingface/transformers': 'cache',
  'prom-client': 'telemetry',
};

/** The lab measures this SDK as a client beside Spillway; it does not build on it. */
const measuredBy = { openai: ['lab'] };

const inLibs = libs => `^libs/(${libs.join('|')})/`;

const layerRules = layers.map((row, level) => ({
  name: `layer-${level}-imports-only-lower-layers`,
  severity: 'error',
  from: { path: inLibs(row) },
  to: { path: inLibs(layers.slice(level).flat()), pathNot: '^libs/$1/' },
}));

const ownerRules = Object.entries(owners).map(([vendor, lib]) => ({
  name: `only-${lib.replace('|', '-and-')}-imports-${vendor.replace(/\W+/g, '-')}`,
  severity: 'error',
  from: {
    path: '^(apps|libs)/',
    pathNot: [`^libs/(${lib})/`, ...(measuredBy[vendor] ?? []).map(app => `^apps/${app}/`)],
  },
  to: { path: `node_modules/${vendor}/` },
}));

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'libs-never-import-apps', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'enter-a-lib-by-its-index',
      severity: 'error',
      from: { path: '^(?:apps|libs)/([^/]+)/' },
      to: { path: '^libs/[^/]+/src/(?!index\\.ts$)', pathNot: '^libs/$1/' },
    },
    {
      name: 'contracts-stay-pure',
      severity: 'error',
      from: { path: '^libs/contracts/' },
      to: { dependencyTypes: ['npm', 'core'] },
    },
    ...layerRules,
    ...ownerRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: { path: '\\.spec\\.ts$' },
  },
};
