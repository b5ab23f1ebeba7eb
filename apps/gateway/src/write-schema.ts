import { writeFileSync } from 'node:fs';
import { jsonSchema } from '@spillway/config';

// `npm run schema`: writes the JSON Schema of the configuration beside package.json; a test tells when it is out of date.
writeFileSync('spillway.schema.json', `${JSON.stringify(jsonSchema(), null, 2)}\n`);
