package import AppleAccounts
package import Cryptography

/// Changes of grants that a store has to write at the end of a transaction: first the removed rows, then the
/// rows to put. Each list is in the order of its keys, so that two replicas lock in the same order.
package struct GrantChanges: Sendable, Equatable {
    /// Grants to remove, with their token families and codes.
    package var removedGrants: [GrantID] = []
    package var removedFamilies: [UniqueID] = []
    package var removedCodes: [SHA256Digest] = []
    /// Grants that are new, or that replace the row of the same ID.
    package var grants: [GrantRecord] = []
    package var families: [TokenFamily] = []
    package var codes: [CodeRecord] = []

    package var isEmpty: Bool { self == GrantChanges() }
}

extension GrantChanges {
    /// Computes the difference between the loaded grants and the grants after the rules.
    init(from loaded: [GrantID: HeldGrant], to held: [GrantID: HeldGrant]) {
        self.init()
        removedGrants = loaded.keys.filter { held[$0] == nil }
        for (id, grant) in held {
            let before = loaded[id]
            guard grant != before else { continue }
            if grant.record != before?.record { grants.append(grant.record) }
            let familyIDs = Set(grant.families.map(\.id))
            removedFamilies += before?.families.map(\.id).filter { !familyIDs.contains($0) } ?? []
            families += grant.families.filter { $0 != before?.family($0.id) }
            let digests = Set(grant.codes.map(\.digest))
            removedCodes += before?.codes.map(\.digest).filter { !digests.contains($0) } ?? []
            codes += grant.codes.filter { $0 != before?.code($0.digest) }
        }
        removedGrants.sort { $0.uniqueID < $1.uniqueID }
        removedFamilies.sort()
        removedCodes.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        grants.sort { $0.id.uniqueID < $1.id.uniqueID }
        families.sort { $0.id < $1.id }
        codes.sort { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }
    }
}
