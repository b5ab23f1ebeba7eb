import { headerText } from './header-text';

const asRead = (bytes: Buffer): string => bytes.toString('latin1');

it.each(['sku-7', 'Küche', '手机 🚀', 'Ã©'])('A header in UTF-8 says what its caller wrote: %s', text => {
  expect(headerText(asRead(Buffer.from(text)))).toBe(text);
});

it('A header in Latin-1 does too', () => {
  expect(headerText(asRead(Buffer.from('Küche', 'latin1')))).toBe('Küche');
});
