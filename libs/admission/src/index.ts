export { AdmissionModule } from './admission.module';
export { AdmitCallerStage } from './admit-caller.stage';
export { Gatekeeper, type Credentials } from './gatekeeper';
