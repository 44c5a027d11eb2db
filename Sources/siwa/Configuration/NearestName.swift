/// Finds the known name that is most similar to a misspelled name.
enum NearestName {
    /// Returns the candidate with the fewest single-character edits, the first candidate if several are
    /// equal.
    static func of(_ name: String, among candidates: [String]) -> String? {
        candidates.min { distance(name, $0) < distance(name, $1) }
    }

    /// Finds the nearest name for a member of a list's entry.
    ///
    /// Other programs put the noun of the entry before the member: `client_id` where a client has `id`. By
    /// edit distance `client_id` would be closer to `project_id`.
    ///
    /// - Parameter path: Path of the list, for example `oauth.clients`.
    static func of(_ name: String, among candidates: [String], inListNamed path: String) -> String? {
        let list = path.split(separator: ".").last ?? ""
        let prefix = "\(list.hasSuffix("s") ? list.dropLast() : list)_"
        guard !list.isEmpty, name.hasPrefix(prefix), name.count > prefix.count else {
            return of(name, among: candidates)
        }
        let member = String(name.dropFirst(prefix.count))
        let meant = candidates.first { $0 == member } ?? candidates.first { $0.hasPrefix("\(member)_") }
        return meant ?? of(name, among: candidates)
    }

    /// The Levenshtein distance.
    static func distance(_ lhs: String, _ rhs: String) -> Int {
        let (lhs, rhs) = (Array(lhs.utf8), Array(rhs.utf8))
        var row = Array(0...rhs.count)
        for (i, left) in lhs.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in rhs.enumerated() {
                let substitution = diagonal + (left == right ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
            }
        }
        return row[rhs.count]
    }
}
