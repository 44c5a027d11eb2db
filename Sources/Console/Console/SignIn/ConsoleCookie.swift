import HTTPEngine

/// A cookie of the console. Where the browser uses https, its name has the prefix `__Host-`, so that no other
/// host of the domain can set it (RFC 6265bis §4.1.3.2).
struct ConsoleCookie: Sendable {
    static let session = ConsoleCookie(name: "siwa-console", lifetime: ConsoleSession.lifetime / 1000)
    static let notice = ConsoleCookie(name: "siwa-console-notice", lifetime: 60)

    let name: String
    /// In seconds.
    let lifetime: Int64

    private func fullName(isSecure: Bool) -> String { (isSecure ? "__Host-" : "") + name }

    /// The values of both names, the protected one first.
    func values(in field: String?) -> [String] {
        [true, false].compactMap { CookieField.value(of: fullName(isSecure: $0), in: field) }
    }

    func set(_ value: String, isSecure: Bool) -> String { field(value, lifetime, isSecure: isSecure) }

    /// Fields that delete the cookie, whichever name it has.
    var deletions: [String] { [field("", 0, isSecure: true), field("", 0, isSecure: false)] }

    private func field(_ value: String, _ age: Int64, isSecure: Bool) -> String {
        "\(fullName(isSecure: isSecure))=\(value); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }
}
