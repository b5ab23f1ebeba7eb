// `npm run build`: dist/, which the other commands then find up to date.
import { build } from './workspace.mjs';

build();
