public import Encodings
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A signing key file, as found in the directory listing.
struct SigningKeyFile: Equatable {
    let path: String
    let keyID: String
    /// File attributes that change when the file is written or replaced.
    let stamp: Stamp

    struct Stamp: Equatable {
        let inode: UInt64
        let size: Int64
        let seconds: Int64
        let nanoseconds: Int64
    }

    /// Maximum number of keys per team. Each key that Apple refuses costs a call.
    static let mostKeys = 8
    /// Maximum size in bytes. A `.p8` file is about 250 bytes long.
    private static let longestContent = 16_384

    /// Returns the key files at a location, newest first. Throws `.missing`, `.unreadable`, `.noKey`,
    /// `.tooManyKeys` and `.keyIDMissing`.
    static func list(_ location: SigningKeyLocation) throws(SigningKeyError) -> [SigningKeyFile] {
        switch location {
        case .key: return []
        case .file(let path, let keyID):
            guard let keyID = keyID ?? SigningKeyLocation.keyID(inFileName: path) else {
                // If the file contains no key, the error must be about its content, not its name.
                try SigningKeyFile(path: path, keyID: "").checkContent()
                throw SigningKeyError(.keyIDMissing, path: path)
            }
            return [try SigningKeyFile(path: path, keyID: keyID)]
        case .directory(let path):
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
                let isThere = FileManager.default.fileExists(atPath: path)
                throw SigningKeyError(isThere ? .unreadable : .missing, path: path)
            }
            var files: [SigningKeyFile] = []
            for name in names.sorted() {
                guard let keyID = SigningKeyLocation.keyID(inFileName: name) else { continue }
                files.append(try SigningKeyFile(path: "\(path)/\(name)", keyID: keyID))
            }
            guard !files.isEmpty else { throw SigningKeyError(.noKey, path: path) }
            guard files.count <= mostKeys else { throw SigningKeyError(.tooManyKeys, path: path) }
            return files.sorted { $0.isNewer(than: $1) }
        }
    }

    private init(path: String, keyID: String) throws(SigningKeyError) {
        var info = stat()
        guard stat(path, &info) == 0 else {
            let isThere = errno != ENOENT && errno != ENOTDIR
            throw SigningKeyError(isThere ? .unreadable : .missing, path: path)
        }
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        stamp = Stamp(
            inode: UInt64(info.st_ino), size: Int64(info.st_size), seconds: Int64(time.tv_sec),
            nanoseconds: Int64(time.tv_nsec))
        (self.path, self.keyID) = (path, keyID)
    }

    /// Reads the key. Throws `.unreadable`, `.keyIDMalformed`, `.notPEM` or `.notP256` if the file has no
    /// usable key.
    func read() throws(SigningKeyError) -> ClientSigningKey {
        let text = try content()
        do throws(ClientSigningKey.Refusal) {
            return try ClientSigningKey(keyID: keyID, pem: text)
        } catch {
            throw SigningKeyError(error, path: path)
        }
    }

    /// Checks that the file contains a key. Throws `.unreadable`, `.notPEM` or `.notP256` if it does not.
    private func checkContent() throws(SigningKeyError) {
        let text = try content()
        do throws(ClientSigningKey.Refusal) {
            _ = try ClientSigningKey.readPEM(text)
        } catch {
            throw SigningKeyError(error, path: path)
        }
    }

    private func content() throws(SigningKeyError) -> String {
        // The file is opened in nonblocking mode, because opening a pipe without a writer would otherwise
        // block startup forever.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SigningKeyError(.unreadable, path: path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let data = try? handle.read(upToCount: Self.longestContent) else {
            throw SigningKeyError(.unreadable, path: path)
        }
        return String(decoding: data, as: UTF8.self)
    }

    private func isNewer(than other: SigningKeyFile) -> Bool {
        (stamp.seconds, stamp.nanoseconds) > (other.stamp.seconds, other.stamp.nanoseconds)
    }
}

/// The reason why signing keys could not be read. Match on `code`.
public struct SigningKeyError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The file or directory does not exist.
        case missing
        /// The file or directory cannot be read.
        case unreadable
        /// The directory has no file with a name like `AuthKey_<KEYID>.p8`.
        case noKey = "no_key"
        /// The directory has more keys than a key rotation needs.
        case tooManyKeys = "too_many_keys"
        /// The key ID is neither configured nor contained in the file name.
        case keyIDMissing = "key_id_missing"
        case keyIDMalformed = "key_id_malformed"
        case notPEM = "not_pem"
        case notP256 = "not_p256"
    }

    public let code: Code
    /// The path of the file or directory that caused the error.
    public let path: String?

    public init(_ code: Code, path: String? = nil) {
        (self.code, self.path) = (code, path)
    }

    init(_ refusal: ClientSigningKey.Refusal, path: String?) {
        let code: Code =
            switch refusal {
            case .keyIDMalformed: .keyIDMalformed
            case .notPEM: .notPEM
            case .notP256: .notP256
            }
        self.init(code, path: path)
    }
}

extension SigningKeyError {
    public var description: String { "signing key: \(code.rawValue)" }
}
