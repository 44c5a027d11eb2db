/// The keys of one location as they were read last.
struct HeldSigningKeys {
    var lookedAt: Duration?
    private(set) var keys: [ClientSigningKey] = []
    /// What was wrong when they were looked at last. The keys that were read before stay in use.
    private(set) var trouble: SigningKeyError?
    /// The files whose present content is in `keys`.
    private var files: [SigningKeyFile] = []

    mutating func update(from location: SigningKeyLocation) {
        let found: [SigningKeyFile]
        do throws(SigningKeyError) {
            found = try SigningKeyFile.list(location)
        } catch {
            trouble = error
            // An emptied directory has no keys; everything else can be a moment in the middle of a change.
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
                // Not in `read`, so that the next look reads it again.
                trouble = error
                if let old = self.keys.first(where: { $0.keyID == file.keyID }) { keys.append(old) }
            }
        }
        (files, self.keys) = (read, keys)
    }
}
