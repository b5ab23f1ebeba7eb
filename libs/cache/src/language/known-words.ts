import { stem } from './english-stem';

/** Frequent long words, as stems, that a mistyped word is told from. */
export const KNOWN_WORDS: ReadonlySet<string> = new Set(
  (
    'desert ' +
    'absolute academy accepted accessory accidentally accommodation account accounts achieve acknowledge acquire ' +
    'activate activating activities activity actually addition additional address adjustment administrator ' +
    'advance advantage adventure advertisement affordable afternoon agreement aircraft airlines airport algorithm ' +
    'allergic allergy already alternative aluminum amazing ambulance analysis ancient android animals anniversary ' +
    'announce annually another antibiotic anxiety anymore anything anywhere apartment apology appearance appeared ' +
    'appears appliance applicant application applied appointment appreciate approach approval approved ' +
    'approximately architecture argument arrange arrival arrived article articles artificial assembly assignment ' +
    'assistance assistant associated association atmosphere attachment attempt attempted attendance attention ' +
    'attitude attorney attract attractions auction audience authentication authority automatic automatically ' +
    'available average bacteria baggage balance bananas barcode bargain baseball basketball bathroom battery ' +
    'beautiful because beginning behavior believe beneath beneficiary benefits between bicycle biology birthday ' +
    'blocked bluetooth breakfast brother browser building business calculate calculator calendar calling calorie ' +
    'calories campaign canceled cancelled capacity capital carbohydrate cardboard carrots category ceiling ' +
    'celebrate cellphone cellular centimeters central certain certificate challenge champion changed changes ' +
    'changing channel character charged charges charity cheapest checkbooks checked checking cheesecake chemical ' +
    'chemistry chicken children chocolate cholesterol cigarette citizen classic classical cleaning climate ' +
    'closest clothing colleague collection college combination comfortable commerce commercial commission ' +
    'committee communication community commute company compare comparison compatible complaint complete completed ' +
    'complicated component compound comprehensive compress computer concept concern conclusion condition ' +
    'conference confidence configuration configure confirm confirmed conflict connect connected connection ' +
    'conscious consequence conservation conserve consider consist constant construction consult consumer contact ' +
    'contactless container content contract contribute control convenient conversation conversion convert ' +
    'converter cooking cooperation coordinates corporate corporation correct correction correspond costume ' +
    'costumer council counsel countries country courier coverage created creative creature credential criminal ' +
    'critical culture cupboard curiosity currencies currency current currently curriculum custody customer ' +
    'damaged database daughter deadline decline declined declining decrease default deficit definitely definition ' +
    'delegate delicious deliver delivered delivery democracy density dentist department departure dependent ' +
    'deposit deposited deprecate depreciate describe description designed desktop dessert destination details ' +
    'detergent determine developer development diabetes diagnosis diameter dictionary difference different ' +
    'digital dimension dinosaur diploma directions directly disability disable disappeared disaster discipline ' +
    'disconnect discount discover discovery discussion disease dishwasher display disposable dispute distance ' +
    'distribute divided document dollars domestic donation download downtown drawing driving duplicate earlier ' +
    'earring eclipse economy edition education efficient election electric electrical electricity electronic ' +
    'element elevator eligible embassy emergency emission emotion employee employer employment encounter ' +
    'encourage encryption endpoint engagement engineer engineering enormous enrolled enterprise entertainment ' +
    'entrance envelope environment equation equipment especially essential establish estimate evaluate evening ' +
    'eventually everything evidence evolution exactly examination examples exception exchange exchanged exchanges ' +
    'exchanging exclude exclusive exercise exhibition existing expected expensive experience experiment ' +
    'expiration expired expires explain express extension extinct extract facility factory failure familiar ' +
    'fashion favorite feature federal festival fiction finding finished firmware fitness flexible flights ' +
    'fluctuate following football forecast foreign forgotten forward foundation fraction framework fraudulent ' +
    'freelance freezer freight frequency frequent friends function furniture gallons garbage gasoline general ' +
    'generate generation genetic genuine geography geometry getting glucose goodbye government graduate grammar ' +
    'gravity greenhouse grocery guarantee guideline happened happening happens hardware harvest headache ' +
    'headphone healthy hearing heating helicopter heritage highest history hobbies holding holiday horizontal ' +
    'hormone hospital household however humidity hundred hurricane hydrogen hypothesis identify identity illness ' +
    'illustrate imagine immediately immigrant immigration implement impossible improve improvement incident ' +
    'include inclusive incorrect increase increased individual industry inflation influence information ' +
    'ingredient ingredients inherit initial injection innocent innovation inquiry install installation ' +
    'installment instance instead institute instruction instructions instrument insurance integrate intelligence ' +
    'intensity interact interest interesting interface interior internal international internationally internet ' +
    'interpret interrupt interval interview invasion inventory investigate investment invitation invoice involved ' +
    'isolate jewelry journal journey judgment justice kitchen knowledge laboratory landlord landscape language ' +
    'latitude laundry leather legislation leisure leopard license lifestyle lighting listening literature lobster ' +
    'located location locations logistics longitude looking luggage machine machines magazine maintain ' +
    'maintenance malignant management manager manufacture manufacturer marriage material mathematics mattress ' +
    'maximum meaning measure measurement mechanic mechanism medical medication medicine meeting meetings ' +
    'membership mention merchant message metabolism microphone microwave mileage military mineral minimum ' +
    'minister minority minutes miracle missing mission mistake mixture molecule monitor monthly monument morning ' +
    'mortgage motivation motivational mountain movement multiple mushroom musician mystery national nations ' +
    'natural navigate nearest necessary needing negative negotiate network nitrogen notebook nothing noticed ' +
    'notification nuclear numbers nutrition nutritional objective observe obstacle occasion occupation offense ' +
    'official operate operation opinion opportunity opposite optical optimal options oranges ordered organic ' +
    'organism organization organize original originally outside package painting paragraph parallel parameter ' +
    'parking partner passcode passenger passport password patience patient pattern paycheck payment payments ' +
    'penalty pending pension percentage perfect perform performance perfume permanent permission personal ' +
    'personality perspective pharmacy phenomenon philosophy photograph photosynthesis physical physician picture ' +
    'pipeline plastic platform playing playlist pleasure pneumonia pollution popular population portrait position ' +
    'positive possible postpone potatoes poverty powerful practical practice predict pregnancy pregnant premium ' +
    'prepare prescription presence present president pressure prevent previous primary principal principle ' +
    'printer priority privacy private probability problem problems procedure process processed product production ' +
    'profession professional professor profile program programmed progress project promise promotion proposal ' +
    'protect protection protein protocol provide psychology publish pumpkin purchase purchased purchases purpose ' +
    'qualification qualify quality quantity quantum quarter question questions quickly radiation railway ratings ' +
    'reactivate realize reasonable receipt receive received receiving recently reception recession recipes ' +
    'recipient recognize recommend recommendation recommendations recommended recover recovery recruit recycle ' +
    'reduction reference reflect refrigerator refunded register registration regular regulation rejected relation ' +
    'relationship relative release relevant reliable religion remaining remember reminder reminders removal ' +
    'removed renewable renewal replace replaced replacement reporter represent republic reputation request ' +
    'requested require required research reservation reservations reserve residence resident resistance ' +
    'resolution resolve resource respect responding response responsibility responsible restaurant restaurants ' +
    'restore restrictions retirement retrieve returned returning revenue reverse reverted reviewed reviews ' +
    'revolution rewards rewrite rollover romantic routine routing running russian satellite satisfaction saturday ' +
    'savings schedule scheduled scholarship science scientist seattle security seminar sensitive sentence ' +
    'separate sequence servant service services session setting settings several shampoo shipment shipping ' +
    'shopping shortage shoulder shouldn showing signature significant silence similar simulate situation ' +
    'smartphone society software soldier solution somebody someone something somewhere southwest spaghetti ' +
    'spanish speaker speakers speaking special specific specification spectrum spelling spending spreadsheet ' +
    'stadium standard starships started starting statement station statistics steakhouse stopped storage straight ' +
    'strange strategy strength stretch structure struggle student subject subjects submission subscribe ' +
    'subscriber subscription subsidy success successful suggest suggestion suggestions suitable summary ' +
    'supermarket supplement supplier support supported supposed surface surgery surprise surround survive suspend ' +
    'sustainable swallowed symptom syndrome synthesis tablespoon talking teacher teaspoons technical technique ' +
    'technology telephone television temperature temporary terminal terminate territory thailand theater therapy ' +
    'thermostat thought thousand through throughout thunder thursday timezone together tomorrow tonight topping ' +
    'tourist tournament towards tracking tradition traffic training transaction transactions transcript transfer ' +
    'transferred transferring transfers transform transit translate translation transmission transport ' +
    'transportation traveling travelling treatment triangle tropicana trouble tuesday tuition tutorial typical ' +
    'umbrella unauthorized unblock understand uniform universe university unknown unlimited unsubscribe unusual ' +
    'upcoming updated upgrade upstairs username usually utility vacation vaccinations vaccine vaccines vacuuming ' +
    'validate valuable variable variety vegetable vegetarian vehicle venture verification verified verifying ' +
    'verizon version vertical victory village vinegar violation virtual visible visiting vitamin vocabulary ' +
    'voltage volunteer voucher waiting walmart warehouse warranty washing washington waterproof weather website ' +
    'wedding wednesday weekend welcome wheeler whether whisper wilderness wireless withdraw withdrawal ' +
    'withdrawals withdrawing withdrawl withdrew without witness wondering working workout workshop worldwide ' +
    'wrinkle writing xenophobe yardhouse yesterday yourself '
  )
    .trim()
    .split(' ')
    .map(stem),
);
