import TestSupport
import Testing

@testable import AuthorizationServer

@Suite struct RedirectMatchPropertyTests {
    static let registered = [
        "https://app.example.com/cb", "https://app.example.com/cb?tenant=1&x=%20",
        "https://app.example.com:8443",
        "com.example.app:/oauth2redirect", "http://127.0.0.1", "http://127.0.0.1:9004/cb?a=b",
        "http://[::1]/cb", "http://[::1]:9004", "https://oauth-redirect.googleusercontent.com/r/home-link-42",
    ]

    private static let interesting = Array(
        ":/?#@.%\\*&=+;0123456789abkAK \t\r\n\u{0}\u{E9}\u{212A}\u{FF0F}".unicodeScalars)
    private static let tails = ["/", "?x=1", "#x", ".", ":443", ":8080", "%2F", "/../cb", "@evil.example"]

    @Test(arguments: registered)
    func `matches no random change but that of a loopback port`(text: String) throws {
        let uri = try RegisteredRedirectURI(registering: text)
        var generator = SeededGenerator(seed: 8252)
        var matches = 0
        for _ in 0..<2000 {
            let changed = mutate(text, using: &generator)
            let isMatch = uri.target(for: changed) != nil
            if isMatch != isAllowed(changed, for: text) {
                Issue.record("\(changed.debugDescription) \(isMatch ? "matches" : "does not match")")
            }
            if isMatch { matches += 1 }
        }
        // Some changes change nothing, so the rule is seen from both sides.
        #expect(matches > 10)
    }

    @Test(arguments: registered.filter { $0.hasPrefix("http://") })
    func `matches a loopback URI on every port`(text: String) throws {
        let uri = try RegisteredRedirectURI(registering: text)
        let (origin, rest) = try #require(splitLoopback(text))
        for port in [1, 80, 443, 1024, 9004, 65535] {
            let request = "\(origin):\(port)\(rest)"
            #expect(uri.target(for: request)?.text == request)
        }
        for port in ["0", "00", "09004", "65536", "99999", "100000", "+80", "8 0", "", "8e1", "\u{661}"] {
            #expect(uri.target(for: "\(origin):\(port)\(rest)") == nil, "\(port)")
        }
    }

    @Test func `compares bytes, not canonical equivalence`() throws {
        // U+212A is canonically equivalent to K, and U+037E to a semicolon.
        let uri = try RegisteredRedirectURI(registering: "https://app.example.com/K;x")
        #expect(uri.target(for: "https://app.example.com/\u{212A};x") == nil)
        #expect(uri.target(for: "https://app.example.com/K\u{37E}x") == nil)
        #expect(uri.target(for: "https://app.example.com/K;x") != nil)
        let loopback = try RegisteredRedirectURI(registering: "http://127.0.0.1/K")
        #expect(loopback.target(for: "http://127.0.0.1:80/\u{212A}") == nil)
    }

    /// The rule, implemented a second time and differently.
    private func isAllowed(_ request: String, for registered: String) -> Bool {
        if Array(request.utf8) == Array(registered.utf8) { return true }
        // A regular expression takes long, and most changes do not need it.
        guard registered.hasPrefix("http:"), request.utf8.starts(with: "http://".utf8),
            let mine = splitLoopback(registered), let theirs = splitLoopback(request)
        else { return false }
        return mine.origin == theirs.origin && Array(mine.rest.utf8) == Array(theirs.rest.utf8)
    }

    private func splitLoopback(_ text: String) -> (origin: String, rest: String)? {
        let pattern = /(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9][0-9]{0,4}))?((?:[\/?][\s\S]*)?)/
            .matchingSemantics(.unicodeScalar)
        guard let match = text.wholeMatch(of: pattern), match.2.map({ Int($0) ?? 0 <= 65535 }) ?? true else {
            return nil
        }
        return (String(match.1), String(match.3))
    }

    /// One to three changes of the kind that attackers try.
    private func mutate(_ text: String, using generator: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let position = Int.random(in: 0...scalars.count, using: &generator)
            let scalar = Self.interesting[Int.random(in: 0..<Self.interesting.count, using: &generator)]
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: scalars.insert(scalar, at: position)
            case 1 where position < scalars.count: scalars.remove(at: position)
            case 2 where position < scalars.count: scalars[position] = scalar
            case 3 where position < scalars.count && scalars[position].isASCII:
                let digits = String(scalars[position].value, radix: 16)
                scalars.replaceSubrange(position...position, with: "%\(digits)".unicodeScalars)
            case 4:
                scalars += Self.tails[Int.random(in: 0..<Self.tails.count, using: &generator)].unicodeScalars
            case 5 where position < scalars.count:
                scalars.replaceSubrange(
                    position...position, with: String(scalars[position]).uppercased().unicodeScalars)
            case 6:
                // The beginning of this URI and the end of another one.
                let other = Array(
                    Self.registered[Int.random(in: 0..<Self.registered.count, using: &generator)]
                        .unicodeScalars)
                let cut = Int.random(in: 0...other.count, using: &generator)
                scalars.replaceSubrange(position..., with: other[cut...])
            default:
                // The port, where there is one.
                let changed = String(String.UnicodeScalarView(scalars)).replacing(
                    "9004", with: "\(UInt16.random(in: 0...65535, using: &generator))")
                scalars = Array(changed.unicodeScalars)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
