import { loadFactor, readLoad } from './server-load';

const PAGE = `# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="a}b \\"c\\""} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.625 1700000000000
vllm:num_requests_running{engine="0"} 7.0
`;

describe('the load of a model server', () => {
  it.each([
    ['of its fullest engine', PAGE, { cacheUse: 0.625, steps: null }],
    ['by the older name, without labels', 'vllm:gpu_cache_usage_perc 1e-1\r\n', { cacheUse: 0.1, steps: null }],
    [
      'with the length of its calls',
      `${PAGE}spillway_running_generation_tokens 300\n`,
      { cacheUse: 0.625, steps: 300 },
    ],
    ['never above all of it', 'vllm:kv_cache_usage_perc 1.5', { cacheUse: 1, steps: null }],
  ])('is read %s', (_, page, expected) => {
    expect(readLoad(page)).toEqual(expected);
  });

  it.each([
    '',
    'hello',
    '# vllm:kv_cache_usage_perc 0.5',
    'vllm:kv_cache_usage_perc NaN',
    '{"vllm:kv_cache_usage_perc": 1}',
  ])('is not to be read from %j', page => {
    expect(readLoad(page)).toBeNull();
  });

  it.each([
    [0, null, 1],
    [0.25, null, 0.75],
    [0.98, null, 0.05],
    [1, null, 0.05],
    [0, 512, 0.35],
    [0.15, 50, 0.75],
    [0.7, 384, 0.15],
    [0.95, 1024, 0.05],
    [0.5, -5, 0.5],
  ])('with %d of the cache in use and %p steps leaves %d of the rate', (cacheUse, steps, expected) => {
    expect(loadFactor({ cacheUse, steps })).toBeCloseTo(expected);
  });
});
