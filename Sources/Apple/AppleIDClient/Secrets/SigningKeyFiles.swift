import Encodings
public import JOSE
public import StrictJSON
import Synchronization

/// Signing keys read from files. Changed files are read again, so a new key takes effect without a restart.
///
/// While a file cannot be read, for example because it is being written, its last valid key stays in use.
/// Once a file is removed from a directory, its key is no longer used.
public final class SigningKeyFiles: SigningKeySource {
    private let locations: [String: SigningKeyLocation]
    private let uptime: @Sendable () -> Duration
    private let held = Mutex<[String: CachedSigningKeys]>([:])

    /// Minimum time between two checks of the files.
    public static let interval: Duration = .seconds(3)

    /// - Parameters:
    ///   - locations: The key locations, by team ID.
    ///   - uptime: A monotonic clock.
    public init(
        _ locations: [String: SigningKeyLocation],
        uptime: @escaping @Sendable () -> Duration = SystemUptime.elapsed
    ) {
        self.locations = locations
        self.uptime = uptime
    }

    public func keys(ofTeam team: String) -> [ClientSigningKey] {
        look(atTeam: team).keys
    }

    /// Returns the current keys, and the error from the last check of their files.
    public func look(atTeam team: String) -> (keys: [ClientSigningKey], trouble: SigningKeyError?) {
        guard let location = locations[team] else { return ([], nil) }
        if case .key(let key) = location { return ([key], nil) }
        let now = uptime()
        return held.withLock { teams in
            var held = teams[team] ?? CachedSigningKeys()
            if let lookedAt = held.lookedAt, now - lookedAt < Self.interval {
                return (held.keys, held.trouble)
            }
            held.lookedAt = now
            held.update(from: location)
            teams[team] = held
            return (held.keys, held.trouble)
        }
    }

    /// Reads all keys at a location, or throws the first error. Used by configuration checks.
    public static func read(_ location: SigningKeyLocation) throws(SigningKeyError) -> [ClientSigningKey] {
        if case .key(let key) = location { return [key] }
        var keys: [ClientSigningKey] = []
        for file in try SigningKeyFile.list(location) { keys.append(try file.read()) }
        return keys
    }
}

/// Provides the keys that sign client secrets.
public protocol SigningKeySource: Sendable {
    /// Returns a team's current keys, newest first; empty if it
    /// has none. It may read local files, but must not do anything slower.
    func keys(ofTeam team: String) -> [ClientSigningKey]
}

/// The location of a team's signing keys.
public enum SigningKeyLocation: Sendable, Equatable {
    case key(ClientSigningKey)
    /// A file with one key. If `keyID` is `nil`, the file must have the name that Apple gives it,
    /// `AuthKey_<KEYID>.p8`.
    case file(path: String, keyID: String?)
    /// All files in a directory that have a name like `AuthKey_<KEYID>.p8`; other files are ignored.
    case directory(path: String)

    /// Returns the key ID from a file name like `AuthKey_<KEYID>.p8`; `nil` for any other name.
    public static func keyID(inFileName path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let keyID = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        return ClientSigningKey.isKeyID(keyID) ? keyID : nil
    }
}

/// A key that a team signs its client secrets with: a P-256 private key with its ID at Apple. Descriptions
/// omit the key.
public struct ClientSigningKey: Sendable, Equatable {
    public let keyID: String
    /// PKCS #8 in PEM, which is the format of Apple's `.p8` files.
    let pem: String

    public enum Refusal: String, Error, Sendable, CaseIterable {
        /// A key ID must have 10 capital letters and digits.
        case keyIDMalformed = "key_id_malformed"
        /// The text is not a `BEGIN PRIVATE KEY` block with base64.
        case notPEM = "not_pem"
        /// The key is of another type or curve, or is damaged.
        case notP256 = "not_p256"
    }

    /// Checks the format and the curve, because libjwt signs with any key. It cannot check whether Apple
    /// knows the key. Line ends may be written as `\n`, so that a PEM fits into an environment variable.
    public init(keyID: String, pem text: String) throws(Refusal) {
        guard Self.isKeyID(keyID) else { throw .keyIDMalformed }
        pem = try Self.readPEM(text)
        self.keyID = keyID
    }

    /// Returns a private key in the form that signing needs, without the byte order mark, blank lines, spaces
    /// and CRLF that editors add.
    ///
    /// - Throws: `.notPEM` for text in another form, `.notP256` for another key.
    static func readPEM(_ text: String) throws(Refusal) -> String {
        // This code works on scalars, because a CRLF is one character in Swift.
        let scalars = text.replacing("\\n", with: "\n").replacing("\\r", with: "").unicodeScalars
        let lines = scalars.split { $0 == "\n" || $0 == "\r" }
            .map { String(String.UnicodeScalarView($0.filter { $0 != "\u{FEFF}" && $0 != "\t" })) }
            .map { line in String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
            .filter { !$0.isEmpty }
        // OpenSSL accepts more formats than Apple's key files use.
        guard lines.count >= 3, lines.first == "-----BEGIN PRIVATE KEY-----",
            lines.last == "-----END PRIVATE KEY-----",
            Base64.decode(lines.dropFirst().dropLast().joined()) != nil
        else { throw .notPEM }
        do throws(JOSEError) {
            return try ECPrivateKey(pem: lines.map { "\($0)\n" }.joined()).pem
        } catch {
            throw .notP256
        }
    }

    /// Returns a JWT with these claims, signed with ES256 (RFC 7518 §3.4). Throws `.signingFailed` if libjwt
    /// fails.
    public func sign(_ claims: JSONObject) throws(JOSEError) -> String {
        try JWTSigner.sign(claims: claims, keyID: keyID, algorithm: .ES256, key: pem)
    }

    /// The key that verifies signatures made with this key.
    package var verificationKey: TokenVerificationKey? {
        guard let key = try? ECPrivateKey(pem: pem) else { return nil }
        return try? TokenVerificationKey(jwk: .object(key.publicKey.jwk(keyID: keyID)))
    }

    public static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}

extension ClientSigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}

/// Signing keys as last read from one location.
struct CachedSigningKeys {
    var lookedAt: Duration?
    private(set) var keys: [ClientSigningKey] = []
    /// The error from the last read; `nil` if it succeeded. Keys from earlier reads stay in use.
    private(set) var trouble: SigningKeyError?
    /// The files whose current content is in `keys`.
    private var files: [SigningKeyFile] = []

    mutating func update(from location: SigningKeyLocation) {
        let found: [SigningKeyFile]
        do throws(SigningKeyError) {
            found = try SigningKeyFile.list(location)
        } catch {
            trouble = error
            // An empty directory really has no keys. Any other error can be temporary, because an operator
            // may be replacing files.
            if error.code == .noKey { (files, keys) = ([], []) }
            return
        }
        guard found != files else {
            trouble = nil
            return
        }
        trouble = nil
        var read: [SigningKeyFile] = []
        var keys: [ClientSigningKey] = []
        for file in found {
            do throws(SigningKeyError) {
                keys.append(try file.read())
                read.append(file)
            } catch {
                // The file is not added to `read`, so that the next update reads it again.
                trouble = error
                if let old = self.keys.first(where: { $0.keyID == file.keyID }) { keys.append(old) }
            }
        }
        (files, self.keys) = (read, keys)
    }
}
