export { ExplainModule } from './explain.module';
export { Explainer } from './explainer';
export { Explanations } from './explanations';
