/// Recognizes browsers inside of apps (RFC 8252 §8.12): the app around them could read what the person types,
/// and they share no session with the system's browser.
///
/// It goes by what they say about themselves. That is a help for honest developers, and no protection from an
/// app that lies.
public enum EmbeddedWebView {
    public static func isOne(userAgent: String) -> Bool {
        // Browsers and the system's sheets for signing in say Safari; a bare web view does not.
        let isApple = ["iPhone;", "iPad;", "iPod", "Macintosh;"].contains { has($0, userAgent) }
        if isApple, has("AppleWebKit/", userAgent), !has("Safari/", userAgent) { return true }
        if has("Android", userAgent), has("; wv)", userAgent) { return true }
        return inAppBrowsers.contains { has($0, userAgent) }
    }

    /// Words of in-app browsers that say Safari, or leave out `wv`.
    private static let inAppBrowsers = [
        "FBAN/", "FBAV/", "FB_IAB/", "Instagram ", "Barcelona ", "Line/", "KAKAOTALK", "NAVER(inapp",
        "MicroMessenger/", "Snapchat/", "musical_ly", "BytedanceWebview", "TikTok", "Twitter for",
        "LinkedInApp", "[Pinterest/", "WhatsApp/",
    ]

    private static func has(_ word: String, _ userAgent: String) -> Bool {
        let (text, word) = (userAgent.utf8, Array(word.utf8))
        var rest = text[...]
        while let start = rest.firstIndex(of: word[0]) {
            if rest[start...].starts(with: word) { return true }
            rest = rest[rest.index(after: start)...]
        }
        return false
    }
}
