import { Metrics } from './metrics';

describe('the states of breakers', () => {
  it('are those of the services that there are now', async () => {
    const metrics = new Metrics();
    metrics.services({ old: 'open', kept: 'closed' });
    metrics.services({ kept: 'degraded', redis: 'half-open' });
    const lines = (await metrics.registry.metrics())
      .split('\n')
      .filter(line => line.startsWith('circuit_breaker_state'));
    expect(lines).toEqual(['circuit_breaker_state{service="kept"} 3', 'circuit_breaker_state{service="redis"} 2']);
  });
});
