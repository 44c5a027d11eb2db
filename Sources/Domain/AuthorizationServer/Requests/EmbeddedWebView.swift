/// Recognizes browsers inside apps (RFC 8252 §8.12): the surrounding app could read the user's input, and the
/// browser shares no session with the system's browser.
///
/// The check reads only the `User-Agent`. It helps honest developers,
/// and does not protect from a dishonest app.
public enum EmbeddedWebView {
    /// Largest number of bytes read. The fields of browsers in apps have some
    /// hundred; a field can be as long as a header.
    static let longestUserAgent = 1024

    /// - Parameter allowsHomeScreen: True if a web app on the home screen of iOS is not a web view. Its
    ///   `User-Agent` equals the `User-Agent` of a bare web view of an unknown app, so both pass, or neither.
    public static func isOne(userAgent: String, allowsHomeScreen: Bool = false) -> Bool {
        let marks = marks(in: userAgent)
        // Browsers and the system's sign-in sheets have the word Safari; a bare web view does not.
        if !allowsHomeScreen, marks.isSuperset(of: [.apple, .webKit]), !marks.contains(.safari) {
            return true
        }
        return marks.isSuperset(of: [.android, .androidWebView]) || marks.contains(.inAppBrowser)
    }

    /// Facts about a browser from words in its `User-Agent`.
    private struct Marks: OptionSet {
        let rawValue: UInt8

        static let apple = Marks(rawValue: 1)
        static let webKit = Marks(rawValue: 2)
        static let safari = Marks(rawValue: 4)
        static let android = Marks(rawValue: 8)
        static let androidWebView = Marks(rawValue: 16)
        /// A browser inside an app that has the word Safari, or omits `wv`.
        static let inAppBrowser = Marks(rawValue: 32)
    }

    private static let words: [(text: String, mark: Marks)] =
        ["iPhone;", "iPad;", "iPod", "Macintosh;"].map { ($0, .apple) }
        + [
            ("AppleWebKit/", .webKit), ("Safari/", .safari), ("Android", .android),
            ("; wv)", .androidWebView),
        ]
        + [
            "FBAN/", "FBAV/", "FB_IAB/", "Instagram ", "Barcelona ", "Line/", "KAKAOTALK", "NAVER(inapp",
            "MicroMessenger/", "Snapchat/", "musical_ly", "BytedanceWebview", "TikTok", "Twitter for",
            "LinkedInApp", "[Pinterest/", "WhatsApp/",
        ].map { ($0, .inAppBrowser) }

    /// The words by their first byte, so that one pass finds all of them.
    private static let wordsByFirstByte: [[(bytes: [UInt8], mark: Marks)]] = {
        var table: [[(bytes: [UInt8], mark: Marks)]] = Array(repeating: [], count: 256)
        for (text, mark) in words {
            let bytes = Array(text.utf8)
            table[Int(bytes[0])].append((bytes, mark))
        }
        return table
    }()
    private static let isFirstByte: [Bool] = wordsByFirstByte.map { !$0.isEmpty }

    private static func marks(in userAgent: String) -> Marks {
        let (table, isFirst) = (wordsByFirstByte, isFirstByte)
        var (marks, userAgent): (Marks, String) = ([], userAgent)
        userAgent.withUTF8 { text in
            let text = text.prefix(longestUserAgent)
            for start in text.indices where isFirst[Int(text[start])] {
                for word in table[Int(text[start])] where text[start...].starts(with: word.bytes) {
                    marks.insert(word.mark)
                }
            }
        }
        return marks
    }
}
