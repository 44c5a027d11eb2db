extension WorkingSet {
    /// Refuses a nonce that was used, has expired, or has our form but was never minted.
    func check(_ nonce: SignInNonce, at moment: Moment) throws(AccountRefusal) {
        let isUsed = usedDigests.contains(nonce.digest)
        switch nonce {
        case .minted(_, let expiresAt, _):
            guard moment < expiresAt else { throw AccountRefusal(.nonceExpired) }
            guard !isUsed else { throw AccountRefusal(.nonceUsed) }
        case .unproven:
            throw AccountRefusal(isUsed ? .nonceUsed : .nonceExpired)
        case .carried:
            guard !isUsed else { throw AccountRefusal(.nonceUsed) }
        }
    }

    /// Uses up a nonce that was checked. A nonce that was not minted here is left to the caller.
    mutating func use(_ nonce: SignInNonce) {
        switch nonce {
        case .minted(let digest, _, let keptUntil):
            usedDigests.insert(digest)
            usedNonces.append(UsedNonce(digest: digest, keptUntil: keptUntil))
        case .unproven, .carried: break
        }
    }
}
