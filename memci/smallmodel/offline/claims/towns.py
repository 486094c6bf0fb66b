"""Towns that English names, of those that share no name with a product: "we moved to …" (R6)."""

from __future__ import annotations

_TOWNS = """
    aberdeen| bath| belfast| birmingham| blackpool| bolton| bournemouth| bradford| brighton|
    bristol| cambridge| canterbury| cardiff| carlisle| chelmsford| chester| colchester|
    coventry| derby| doncaster| dundee| durham| edinburgh| exeter| glasgow| gloucester| hull|
    inverness| ipswich| lancaster| leeds| leicester| lincoln| liverpool| london| luton|
    manchester| middlesbrough| milton keynes| newcastle| newport| northampton| norwich|
    nottingham| oxford| peterborough| plymouth| portsmouth| preston| reading| salford|
    salisbury| sheffield| southampton| stirling| stockport| sunderland| swansea| swindon|
    wigan| winchester| wolverhampton| worcester| york| cork| dublin| galway| limerick|
    waterford| albany| albuquerque| anchorage| ann arbor| atlanta| austin| baltimore| baton
    rouge| berkeley| boise| boston| boulder| brooklyn| buffalo| burlington| charleston|
    charlotte| chicago| cincinnati| cleveland| columbus| dallas| denver| des moines| detroit|
    durango| el paso| fort worth| fresno| hartford| honolulu| houston| indianapolis|
    jacksonville| kansas city| las vegas| little rock| los angeles| louisville| madison|
    memphis| miami| milwaukee| minneapolis| nashville| new haven| new orleans| new york| new
    york city| oakland| oklahoma city| omaha| orlando| palo alto| philadelphia| pittsburgh|
    portland| providence| raleigh| reno| richmond| rochester| sacramento| salt lake city| san
    antonio| san diego| san francisco| san jose| santa barbara| santa fe| savannah| scottsdale|
    seattle| spokane| st louis| st. louis| syracuse| tacoma| tampa| tucson| tulsa| washington|
    brooklyn heights| queens| manhattan| calgary| edmonton| halifax| montreal| ottawa| toronto|
    vancouver| winnipeg| adelaide| auckland| brisbane| cairns| canberra| christchurch| darwin|
    hobart| melbourne| perth| sydney| wellington| amsterdam| antwerp| athens| barcelona| basel|
    belgrade| bergen| berlin| bern| bilbao| bologna| bonn| bordeaux| bratislava| bremen|
    brussels| bucharest| budapest| cologne| copenhagen| dresden| dusseldorf| düsseldorf|
    eindhoven| florence| frankfurt| gdansk| geneva| genoa| ghent| gothenburg| granada| graz|
    grenoble| hamburg| hanover| heidelberg| helsinki| istanbul| kiev| kyiv| krakow| lausanne|
    leipzig| lille| lisbon| ljubljana| lucerne| luxembourg city| lyon| madrid| malaga| malmo|
    malmö| mannheim| marseille| milan| montpellier| moscow| munich| nantes| naples| nice|
    nuremberg| oslo| palermo| paris| porto| prague| reykjavik| riga| rome| rotterdam| salzburg|
    sarajevo| seville| sofia| stavanger| stockholm| strasbourg| stuttgart| tallinn| the hague|
    toulouse| trieste| trondheim| turin| utrecht| valencia| venice| verona| vienna| vilnius|
    warsaw| wroclaw| zagreb| zurich| zürich| abu dhabi| accra| addis ababa| algiers| amman|
    ankara| baghdad| bangalore| bangkok| beijing| beirut| bogota| brasilia| buenos aires|
    busan| cairo| cancun| cape town| caracas| casablanca| chengdu| chennai| chongqing| colombo|
    dakar| dar es salaam| delhi| dhaka| doha| dubai| durban| guadalajara| guangzhou| hangzhou|
    hanoi| ho chi minh city| hong kong| hyderabad| jakarta| jeddah| jerusalem| johannesburg|
    karachi| kathmandu| kigali| kobe| kolkata| kuala lumpur| kuwait city| kyoto| lagos| lahore|
    lima| macau| manila| marrakesh| medellin| mexico city| montevideo| mumbai| nagoya| nairobi|
    nanjing| new delhi| osaka| panama city| pretoria| pune| quito| ramallah| rio de janeiro|
    riyadh| santiago| sao paulo| são paulo| seoul| shanghai| shenzhen| singapore| suzhou|
    taipei| tashkent| tehran| tel aviv| tianjin| tokyo| tunis| ulaanbaatar| wuhan| xiamen|
    xi'an| yokohama
"""
TOWNS = frozenset(" ".join(name.split()) for name in _TOWNS.split("|"))
