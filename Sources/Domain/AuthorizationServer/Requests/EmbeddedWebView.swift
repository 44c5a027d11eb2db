/// Recognizes browsers embedded in apps (RFC 8252 §8.12). The surrounding app could read what the user types,
/// and an embedded browser does not share the system browser's sessions.
///
/// The check only reads the `User-Agent`, so it helps honest developers but does not protect users from a
/// malicious app.
public enum EmbeddedWebView {
    /// Maximum number of bytes to read. An in-app browser's `User-Agent` has a few hundred bytes, but the
    /// header can be as long as all headers together.
    static let longestUserAgent = 1024

    /// Returns true if the browser is embedded in an app.
    ///
    /// - Parameter allowsHomeScreen: True if web apps on the iOS home screen do not count as web views. They
    ///   send the same `User-Agent` as a bare web view in an unknown app, so either both are accepted or
    ///   neither is.
    public static func isOne(userAgent: String, allowsHomeScreen: Bool = false) -> Bool {
        let marks = marks(in: userAgent)
        // Browsers and the system's sign-in sheets send the word Safari, but bare web views do not.
        if !allowsHomeScreen, marks.isSuperset(of: [.apple, .webKit]), !marks.contains(.safari) {
            return true
        }
        return marks.isSuperset(of: [.android, .androidWebView]) || marks.contains(.inAppBrowser)
    }

    /// Facts about a browser, derived from words in its `User-Agent`.
    private struct Marks: OptionSet {
        let rawValue: UInt8

        static let apple = Marks(rawValue: 1)
        static let webKit = Marks(rawValue: 2)
        static let safari = Marks(rawValue: 4)
        static let android = Marks(rawValue: 8)
        static let androidWebView = Marks(rawValue: 16)
        /// An in-app browser that sends the word Safari, or that omits the word `wv`.
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

    /// The words, grouped by first byte, so that all of them are found in one pass.
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
