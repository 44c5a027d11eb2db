extension WorkingSet {
    /// Two mints of one nonce are one nonce: a retry of a command that had happened after all.
    mutating func mint(_ nonce: NonceRecord) {
        guard nonces[nonce.digest] == nil else { return }
        nonces[nonce.digest] = nonce
        mintedNonces.append(nonce)
    }

    /// Uses up a nonce that was checked.
    mutating func use(_ digest: NonceDigest) {
        guard let nonce = nonces[digest] else { return }
        let used = NonceRecord(digest: digest, expiresAt: nonce.expiresAt, isUsed: true)
        nonces[digest] = used
        if let position = mintedNonces.firstIndex(where: { $0.digest == digest }) {
            mintedNonces[position] = used
        } else {
            usedNonces.append(digest)
        }
    }
}
