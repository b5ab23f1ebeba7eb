export { AdmissionModule } from './admission.module';
export { AdmitCallerStage } from './admit-caller.stage';
export { Gatekeeper } from './gatekeeper';
