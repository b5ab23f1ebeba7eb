import { sign } from './signature';

describe('sign', () => {
  it('signs the example of Standard Webhooks as they do', () => {
    const body = '{"test": 2432232314}';
    expect(sign('msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, body, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toEqual(
      {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    );
  });
});
