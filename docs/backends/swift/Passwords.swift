import Crypto
import CryptoExtras
import Foundation

/// The password sign-in of this example; keep your backend's own. The example reads its users from
/// `PASSWORD_USERS`, as `user_id:name:iterations:salt:hash` with salt and hash in hexadecimal, separated by
/// commas (PBKDF2 with HMAC-SHA-256).
struct Passwords: Sendable {
    private struct User {
        let id: String
        let iterations: Int
        let salt: [UInt8]
        let hash: [UInt8]
    }

    private var users: [String: User] = [:]

    init(_ text: String) {
        for entry in text.split(separator: ",") {
            let parts = entry.split(separator: ":")
            guard parts.count == 5, let iterations = Int(parts[2]) else { continue }
            users[String(parts[1])] = User(
                id: String(parts[0]), iterations: iterations, salt: Self.bytes(parts[3]),
                hash: Self.bytes(parts[4]))
        }
    }

    /// The user's ID, or `nil` when the name is unknown or the password is wrong.
    func check(_ name: String, _ password: String) throws -> String? {
        let user = users[name] ?? User(id: "", iterations: 600_000, salt: [0], hash: [])
        let found = try KDF.Insecure.PBKDF2.deriveKey(
            from: Array(password.utf8), salt: user.salt, using: .sha256, outputByteCount: 32,
            unsafeUncheckedRounds: user.iterations)
        // The comparison of keys takes the same time wherever they differ.
        return found == SymmetricKey(data: user.hash) ? user.id : nil
    }

    func has(_ userID: String) -> Bool {
        users.values.contains { $0.id == userID }
    }

    mutating func remove(_ userID: String) {
        users = users.filter { $0.value.id != userID }
    }

    private static func bytes(_ hexadecimal: Substring) -> [UInt8] {
        let digits = hexadecimal.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
