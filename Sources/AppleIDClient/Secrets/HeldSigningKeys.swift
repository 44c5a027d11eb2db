/// The keys of one location as they were read last.
struct HeldSigningKeys {
    var lookedAt: Duration?
    private(set) var keys: [ClientSigningKey] = []
    /// The files whose present content is in `keys`.
    private var files: [SigningKeyFile] = []

    mutating func update(from location: SigningKeyLocation) {
        let found: [SigningKeyFile]
        do throws(SigningKeyError) {
            found = try SigningKeyFile.list(location)
        } catch {
            // An emptied directory has no keys; everything else can be a moment in the middle of a change.
            if error.code == .noKey { (files, keys) = ([], []) }
            return
        }
        guard found != files else { return }
        var read: [SigningKeyFile] = []
        var keys: [ClientSigningKey] = []
        for file in found {
            do throws(SigningKeyError) {
                keys.append(try file.read())
                read.append(file)
            } catch {
                // Not in `read`, so that the next look reads it again.
                if let old = self.keys.first(where: { $0.keyID == file.keyID }) { keys.append(old) }
            }
        }
        (files, self.keys) = (read, keys)
    }
}
