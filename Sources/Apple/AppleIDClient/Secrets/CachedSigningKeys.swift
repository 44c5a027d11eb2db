/// The signing keys of one location as they were last read.
struct CachedSigningKeys {
    var lookedAt: Duration?
    private(set) var keys: [ClientSigningKey] = []
    /// The error of the last read, if there was one. The keys that were read before stay in use.
    private(set) var trouble: SigningKeyError?
    /// The files whose current content is in `keys`.
    private var files: [SigningKeyFile] = []

    mutating func update(from location: SigningKeyLocation) {
        let found: [SigningKeyFile]
        do throws(SigningKeyError) {
            found = try SigningKeyFile.list(location)
        } catch {
            trouble = error
            // An empty directory has no keys. Any other error can be temporary, while files are being
            // replaced.
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
