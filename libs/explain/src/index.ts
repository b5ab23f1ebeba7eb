export { ExplainModule } from './explain.module';
export { Explainer } from './explainer';
export { factsOf, type CallFacts } from './explanation';
export { Explanations } from './explanations';
