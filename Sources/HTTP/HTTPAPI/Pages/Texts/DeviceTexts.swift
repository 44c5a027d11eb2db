import AuthorizationServer
import OAuth
import Pages

/// The texts of the device page, in one language.
struct DeviceTexts: TranslatedTexts {
    static let part = "device"

    let title: String
    let enterAdvice: String
    /// The label of the code input field.
    let code: String
    let goOn: String
    let warning: String
    let malformed: String
    let codeUnknown: String
    let over: String
    /// Has the placeholder `{value}` for minutes and seconds.
    let paused: String
    /// Precedes the code on the consent page.
    let compare: String
    /// Introduces the list of facts about the request's origin.
    let origin: String
    /// Has the placeholder `{value}`.
    let address: String
    /// Has the placeholder `{value}`.
    let program: String
    /// Has the placeholder `{value}` for a number of minutes. In built-in languages, `started` replaces this
    /// sentence for some numbers.
    let time: String
    /// Replaces an unknown address or program.
    let unknown: String
    let agreedTitle: String
    /// Has the placeholder `{client}`.
    let agreed: String
    let refusedTitle: String
    /// Has the placeholder `{client}`.
    let refused: String

    static func of(_ language: PageLanguage) -> DeviceTexts {
        switch language {
        case .english: .english
        case .arabic: .arabic
        case .turkish: .turkish
        case .polish: .polish
        case .other(let translation): translation[DeviceTexts.self]
        }
    }

    /// Returns the sentence about a request's start time, with or without the placeholder `{value}`. A
    /// language that a deployment adds has no sentence for 0 minutes, so it shows 1 minute.
    static func started(minutesAgo minutes: Int64, in language: PageLanguage) -> HTML {
        let text =
            switch (language, minutes) {
            case (.english, ...0): "started just now"
            case (.arabic, ...0): "بدأ قبل لحظات"
            case (.arabic, 1): "بدأ قبل دقيقة واحدة"
            case (.arabic, 2): "بدأ قبل دقيقتين"
            // Arabic uses the plural for the numbers 3 to 10, even after hundreds.
            case (.arabic, _) where (3...10).contains(minutes % 100): "بدأ قبل {value} دقائق"
            case (.turkish, ...0): "az önce başlatıldı"
            case (.polish, ...0): "rozpoczęto przed chwilą"
            case (.english, _), (.arabic, _), (.turkish, _), (.polish, _), (.other, _): of(language).time
            }
        return .filled(text, ["value": .value("\(max(1, minutes))")])
    }

    func text(of fault: DevicePageOutcome.EntryFault) -> HTML {
        switch fault {
        case .malformed: .filled(malformed, [:])
        case .unknown: .filled(codeUnknown, [:])
        case .over: .filled(over, [:])
        // Formats the Retry-After time as minutes and seconds, so that translations need no plural forms.
        case .paused(let seconds):
            .filled(
                paused, ["value": .value("\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)")])
        }
    }
}

extension DeviceTexts {
    static let english = DeviceTexts(
        title: "Connect a device",
        enterAdvice: "Enter the code that your TV, your program or another device shows.",
        code: "Code",
        goOn: "Continue",
        warning:
            "Only go on if you started this on your own device. If someone sent you this link or this code, close the page.",
        malformed: "A code has eight letters, like BCDF-GHJK, without vowels. Check it on your device.",
        codeUnknown: "No device waits with this code. Check it on your device.",
        over:
            "This code is not valid any more: it has expired, or it was used. Get a new code on your device.",
        paused: "There were too many wrong codes. Try again in {value} (minutes:seconds).",
        compare: "Your device must show this code:",
        origin: "Details of the request:",
        address: "address {value}",
        program: "program {value}",
        time: "started {value} min ago",
        unknown: "unknown",
        agreedTitle: "Your device is connected",
        agreed: "{client} goes on by itself in a few seconds. You can close this page.",
        refusedTitle: "You have refused the request",
        refused: "{client} gets no access. You can close this page.")

    private static let arabic = DeviceTexts(
        title: "ربط جهاز",
        enterAdvice: "أدخل الرمز الذي يظهر على التلفاز أو البرنامج أو أي جهاز آخر.",
        code: "الرمز",
        goOn: "متابعة",
        warning:
            "لا تتابع إلا إذا بدأت ذلك على جهازك. إذا أرسل إليك شخص ما هذا الرابط أو هذا الرمز، فأغلق الصفحة.",
        malformed: "يتكوّن الرمز من ثمانية أحرف لاتينية، مثل BCDF-GHJK، دون حروف علة. تحقّق منه على جهازك.",
        codeUnknown: "لا يوجد جهاز ينتظر بهذا الرمز. تحقّق منه على جهازك.",
        over: "لم يعد هذا الرمز صالحًا: انتهت مدته أو استُخدم. احصل على رمز جديد على جهازك.",
        paused: "عدد الرموز الخاطئة كبير جدًا. حاول مرة أخرى بعد {value} (دقائق:ثوانٍ).",
        compare: "يجب أن يعرض جهازك هذا الرمز:",
        origin: "تفاصيل الطلب:",
        address: "العنوان {value}",
        program: "البرنامج {value}",
        time: "بدأ قبل {value} دقيقة",
        unknown: "غير معروف",
        agreedTitle: "تم ربط جهازك",
        agreed: "يتابع {client} تلقائيًا خلال ثوانٍ. يمكنك إغلاق هذه الصفحة.",
        refusedTitle: "لقد رفضتَ الطلب",
        refused: "لن يحصل {client} على إمكانية الوصول. يمكنك إغلاق هذه الصفحة.")

    private static let turkish = DeviceTexts(
        title: "Cihaz bağlayın",
        enterAdvice: "Televizyonunuzun, programınızın veya başka bir cihazın gösterdiği kodu girin.",
        code: "Kod",
        goOn: "Devam",
        warning:
            "Yalnızca bunu kendi cihazınızda başlattıysanız devam edin. Bu bağlantıyı veya kodu size biri gönderdiyse sayfayı kapatın.",
        malformed:
            "Kod, BCDF-GHJK gibi sesli harf içermeyen sekiz harften oluşur. Cihazınızdan kontrol edin.",
        codeUnknown: "Bu kodla bekleyen bir cihaz yok. Kodu cihazınızdan kontrol edin.",
        over: "Bu kod artık geçerli değil: süresi dolmuş veya kullanılmış. Cihazınızdan yeni bir kod alın.",
        paused: "Çok fazla yanlış kod girildi. {value} (dakika:saniye) sonra yeniden deneyin.",
        compare: "Cihazınız bu kodu göstermelidir:",
        origin: "İsteğin ayrıntıları:",
        address: "adres {value}",
        program: "program {value}",
        time: "{value} dk önce başlatıldı",
        unknown: "bilinmiyor",
        agreedTitle: "Cihazınız bağlandı",
        agreed: "{client} birkaç saniye içinde kendiliğinden devam eder. Bu sayfayı kapatabilirsiniz.",
        refusedTitle: "İsteği reddettiniz",
        refused: "{client} hesabınıza erişemeyecek. Bu sayfayı kapatabilirsiniz.")

    private static let polish = DeviceTexts(
        title: "Połącz urządzenie",
        enterAdvice: "Wpisz kod, który pokazuje telewizor, program lub inne urządzenie.",
        code: "Kod",
        goOn: "Dalej",
        warning:
            "Kontynuuj tylko, jeśli to Ty rozpoczynasz tę operację na własnym urządzeniu. Jeśli ten link lub kod przysłał Ci ktoś inny, zamknij stronę.",
        malformed: "Kod ma osiem liter bez samogłosek, na przykład BCDF-GHJK. Sprawdź go na urządzeniu.",
        codeUnknown: "Żadne urządzenie nie czeka z tym kodem. Sprawdź go na urządzeniu.",
        over: "Ten kod nie jest już ważny: wygasł albo został użyty. Pobierz nowy kod na urządzeniu.",
        paused: "Wpisano zbyt wiele błędnych kodów. Spróbuj ponownie za {value} (minuty:sekundy).",
        compare: "Twoje urządzenie musi pokazywać ten kod:",
        origin: "Szczegóły prośby:",
        address: "adres {value}",
        program: "program {value}",
        time: "rozpoczęto {value} min temu",
        unknown: "nieznany",
        agreedTitle: "Urządzenie jest połączone",
        agreed: "{client} za kilka sekund przejdzie dalej. Możesz zamknąć tę stronę.",
        refusedTitle: "Prośba odrzucona",
        refused: "{client} nie otrzyma dostępu. Możesz zamknąć tę stronę.")
}
