extension AuthorizeTexts {
    static let arabic = AuthorizeTexts(
        consent: Consent(
            title: "يطلب {client} الوصول إلى حسابك",
            titleForGoogle: "ربط حسابك بـ Google",
            signedInAs: "تم تسجيل الدخول باسم",
            withoutName: "حسابك، بلا اسم ولا عنوان بريد إلكتروني",
            useAnotherAccount: "استخدام حساب آخر",
            loginHint: "يقترح {client} الحساب {hint}.",
            purposeForGoogle:
                "سيُربط حسابك بـ Google، لتتمكّن من استخدامه في تطبيقات Google وعلى أجهزة Google.",
            scopes: "سيتمكّن {client} من",
            optionalScopes: "أزِل علامة الاختيار عمّا لا تريد السماح به.",
            emailShared: "سيحصل {client} على عنوان بريدك الإلكتروني {email}.",
            emailHidden:
                "يبقى عنوان بريدك الإلكتروني مخفيًا. سيحصل {client} على عنوان إعادة التوجيه {email}.",
            emailUnknown: "لن يحصل {client} على عنوان بريد إلكتروني، إذ لا يوجد عنوان معروف هنا.",
            emailNotShared: "لن يحصل {client} على عنوان بريدك الإلكتروني.",
            googlePolicy: "توضّح {policy} كيف تستخدم Google هذه البيانات.",
            googlePolicyName: "سياسة خصوصية Google",
            authorizationForGoogle:
                "باختيار «{agree}» فإنك تفوّض Google بالوصول إلى حسابك والتحكّم فيما يتبع له، كما هو مذكور أعلاه.",
            unlinkFromGoogle:
                "يمكنك إلغاء الربط في أي وقت: من التطبيق، أو من حسابك على Google ضمن {connections}.",
            googleConnectionsName: "التطبيقات والخدمات التابعة لجهات خارجية",
            unlink:
                "يمكنك إنهاء هذا الوصول في أي وقت: من التطبيق، أو من إعدادات حساب Apple ضمن «تسجيل الدخول باستخدام Apple».",
            returnsTo: "بعد ذلك ستعود إلى {target}.",
            agree: "الموافقة والربط",
            cancel: "إلغاء"),
        refusals: Refusals(
            unknownClient: Refusal(
                title: "هذا التطبيق غير معروف هنا",
                reason: "يشير الرابط إلى تطبيق (client_id) غير مسجَّل لدى هذه الخدمة.",
                advice:
                    "ارجع إلى التطبيق وحاول مرة أخرى. إذا كنت مطوّر التطبيق، فقارن client_id بإعدادات هذه الخدمة."
            ),
            redirectURIMismatch: Refusal(
                title: "هذا الرابط يؤدي إلى مكان خاطئ",
                reason: "يريد الرابط العودة إلى عنوان (redirect_uri) غير مسجَّل لهذا التطبيق.",
                advice:
                    "حفاظًا على أمانك ستبقى هنا. إذا كنت مطوّر التطبيق، فسجِّل هذا العنوان تمامًا، بالأحرف والمنفذ والمسار نفسها."
            ),
            requestMalformed: Refusal(
                title: "هذا الرابط غير مكتمل",
                reason:
                    "يجب أن يحدّد الرابط التطبيق (client_id) وعنوان العودة (redirect_uri)، كلًّا منهما مرة واحدة.",
                advice: "ارجع إلى التطبيق وحاول مرة أخرى. إذا كنت مطوّر التطبيق، فتحقّق من معاملات الرابط."),
            embeddedBrowser: Refusal(
                title: "افتح هذه الصفحة في متصفّحك",
                reason:
                    "تُعرض هذه الصفحة داخل تطبيق آخر يمكنه قراءة ما تكتبه. يلزم استخدام متصفّحك، مثل Safari أو Chrome.",
                advice: "اختر «فتح في المتصفّح» من قائمة هذا التطبيق، أو انسخ هذا العنوان إلى متصفّحك:"),
            formRefused: Refusal(
                title: "لم يعد بالإمكان استخدام هذا النموذج",
                reason: "النموذج يخصّ تسجيل دخول آخر أو طلبًا آخر، أو جرى تغييره.",
                advice: "لم تتم مشاركة أي شيء. ابدأ من جديد لمعرفة ما يطلبه التطبيق."),
            signInNeeded: Refusal(
                title: "سجِّل الدخول مرة أخرى",
                reason: "انتهى تسجيل دخولك، أو سُحب لدى Apple.",
                advice: "لم تتم مشاركة أي شيء. سجِّل الدخول باستخدام Apple مرة أخرى للمتابعة.")
        ),
        errorCode: "رمز الخطأ: {code}",
        startAgain: "البدء من جديد")
}
