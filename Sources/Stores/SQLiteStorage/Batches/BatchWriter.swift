import AppleAccounts
import AuthorizationServer
import GRDB
import SQLTables

/// Commits command batches: in one transaction, it loads their rows, applies the commands and saves the
/// changes.
///
/// Its statements and caches belong to one connection and must stay on that connection's queue. It must not
/// be used again after an error.
final class BatchWriter {
    let database: Database
    let shared: SharedStatements
    private let begin: PreparedStatement
    private let end: PreparedStatement
    private let subjects: SubjectRows
    private let writer: SubjectWriter
    private let inbox: InboxRows
    private let nonces: NonceRows
    private let events: EventWriter
    private var attestedKeys: AttestedKeyRows?
    private let history: HistoryWriter
    private let grants: AppleTokenRows
    private let appleTokenWriter: AppleTokenWriter
    private let names: Names
    private let dataVersion: PreparedStatement
    private var grantBatches: GrantBatches?
    private var auditWriter: AuditWriter?
    private(set) var recent: RecentSubjects
    /// SQLite's data version at the last commit.
    private var lastDataVersion: Int64?
    private var generator = SystemRandomNumberGenerator()

    init(
        _ database: Database, sealing: any AppleTokenSealing,
        keepingRecent capacity: Int = RecentSubjects.capacity
    ) throws {
        self.database = database
        shared = SharedStatements(in: database)
        recent = RecentSubjects(capacity: capacity)
        begin = try PreparedStatement("BEGIN IMMEDIATE", in: database)
        end = try PreparedStatement("COMMIT", in: database)
        dataVersion = try PreparedStatement("PRAGMA data_version", in: database)
        names = try Names(writes: true, in: database)
        subjects = try SubjectRows(names, in: database)
        writer = try SubjectWriter(names, in: database)
        inbox = try InboxRows(names, in: database)
        nonces = try NonceRows(in: database)
        events = try EventWriter(names, in: database)
        history = try HistoryWriter(names, in: database)
        grants = try AppleTokenRows(names, in: database)
        appleTokenWriter = try AppleTokenWriter(names, sealing: sealing, in: database)
    }

    /// - Throws: An error if the transaction failed as a whole, so that no command was applied.
    func commitAccounts(_ commands: [AccountCommand]) throws -> CommitResult {
        guard !commands.isEmpty else { return CommitResult(results: [], lastEventSequence: nil) }
        return try transaction {
            try noticeOtherWriters()
            var results: [CommandResult] = []
            var lastEventSequence: Int64?
            for group in WorkingSet.groups(of: commands) {
                var set = WorkingSet(group)
                var places = try load(&set)
                let movingPlace = try loadMoving(&set)
                results += set.applyCommands(using: &generator)
                try changeKeys(of: set, at: &places, moving: movingPlace)
                if try save(set, at: places) { lastEventSequence = database.lastInsertedRowID }
            }
            return CommitResult(results: results, lastEventSequence: lastEventSequence)
        }
    }

    /// - Throws: An error if the transaction failed as a whole, so that no command was applied.
    func commitGrants(_ commands: [GrantCommand]) throws -> GrantCommitResult {
        guard !commands.isEmpty else { return GrantCommitResult(results: [], lastEventSequence: nil) }
        return try transaction {
            let (results, appended, audited) = try oauth().applyAndSave(commands, using: &generator)
            try appendAudit(audited)
            // The events are appended last, so that the connection's last row ID belongs to the last event.
            for (event, rowID) in appended { try events.append(event, subjectRowID: rowID) }
            return GrantCommitResult(
                results: results, lastEventSequence: appended.isEmpty ? nil : database.lastInsertedRowID)
        }
    }

    func oauth() throws -> GrantBatches {
        let batches = try grantBatches ?? GrantBatches(names, subjects, in: database)
        grantBatches = batches
        return batches
    }

    func audit() throws -> AuditWriter {
        let writer = try auditWriter ?? AuditWriter(in: database)
        auditWriter = writer
        return writer
    }

    /// Appends to the audit log. Must be called inside a transaction, before the transaction's events.
    func appendAudit(_ entries: [AuditEntry]) throws {
        guard !entries.isEmpty else { return }
        try audit().append(entries, after: AuditStatements.chain(in: self).head, using: &generator)
    }

    private func keys() throws -> AttestedKeyRows {
        let rows = try attestedKeys ?? AttestedKeyRows(in: database)
        attestedKeys = rows
        return rows
    }

    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        begin.begin()
        try begin.execute()
        let value = try body()
        end.begin()
        try end.execute()
        return value
    }

    /// Detects commits by other programs. The lock file keeps out other service processes, but not an
    /// operator with a tool. No other connection can write during this transaction, and every commit by
    /// another connection changes the data version, so one check per transaction suffices.
    private func noticeOtherWriters() throws {
        dataVersion.begin()
        defer { dataVersion.finish() }
        let version = try dataVersion.step() ? dataVersion.onlyValue(as: Int64.self) : nil
        if version != lastDataVersion { recent.removeAll() }
        lastDataVersion = version
    }

    /// Returns each subject's location; `nil` for subjects without a row.
    private func load(_ set: inout WorkingSet) throws -> [SubjectPlace?] {
        var places = [SubjectPlace?](repeating: nil, count: set.subjectKeys.count)
        for (index, key) in set.subjectKeys.enumerated() {
            guard let found = try recent.find(key) ?? subjects.find(key) else { continue }
            places[index] = found.place
            set.load(found.record, at: index)
        }
        for digest in set.nonceDigests { try nonces.load(digest, into: &set) }
        for id in set.attestedKeyIDs { if let key = try keys().find(id) { set.load(key) } }
        for app in set.countedApps { set.load(keyCount: try keys().count(of: app), of: app) }
        for identifier in set.inboxIdentifiers where try inbox.contains(identifier) {
            set.load(inboxIdentifier: identifier)
        }
        for key in set.inboxKeys where try inbox.contains(key) {
            set.load(inboxKey: key)
        }
        for id in set.appleTokenAccounts { set.load(try grants.find(id), of: id) }
        return places
    }

    /// Loads the account that may move to another subject. Returns its location, if there is one.
    private func loadMoving(_ set: inout WorkingSet) throws -> SubjectPlace? {
        if let (team, transferSubject) = set.transferQuestion,
            let found = try transfer(team: team, transferSubject: transferSubject)
        {
            set.load(found)
        }
        guard let id = set.movingAccountID else { return nil }
        let found = try subjects.find(id)
        let isErased = try ErasureStatements.isErased(id, in: self)
        set.load(moving: found?.record, isErased: isErased)
        return found?.place
    }

    private func changeKeys(
        of set: WorkingSet, at places: inout [SubjectPlace?], moving movingPlace: SubjectPlace?
    ) throws {
        if let rekeying = set.rekeying {
            let position = set.position(of: rekeying.to)
            let rowID = try present(movingPlace).rowID
            let team = try names.teams.ensureNumber(of: rekeying.to.team)
            try run(
                TransferStatements.carryOut(
                    rekeying, rowID: rowID,
                    replacing: rekeying.leavesTombstone ? nil : places[position]?.rowID))
            places[position] = SubjectPlace(
                rowID: rowID, digest: KeyDigest(team: team, name: rekeying.to.subject.rawValue))
        }
        try run(set.finishedTransfers.map { TransferStatements.remove($0) })
        for erasure in set.erasures {
            let (key, rowID) = (set.subjectKeys[0], try present(places[0]).rowID)
            let team = try names.teams.ensureNumber(of: key.team)
            try run(ErasureStatements.carryOut(erasure, key: key, rowID: rowID))
            let place = SubjectPlace(rowID: rowID, digest: KeyDigest(team: team, name: key.tombstoneName))
            if let facts = set.subjects[0].factsOfAllApps { try self.writer.save(facts, at: place) }
            places[0] = place
        }
    }

    /// Saves the changes. Returns true if there were events, which are inserted last.
    private func save(_ set: WorkingSet, at places: [SubjectPlace?]) throws -> Bool {
        var places = places
        for (index, record) in set.subjects.enumerated() {
            places[index] = try writer.save(record, at: places[index])
            if let saved = record.saved, let place = places[index] { recent.keep(saved, at: place) }
        }
        // A re-keying or an erasure has also changed other rows, so all cached subjects are dropped.
        if set.rekeying != nil || !set.erasures.isEmpty { recent.removeAll() }
        for change in set.appleTokenChanges { try appleTokenWriter.carryOut(change) }
        try nonces.save(set)
        if set.changesAttestedKeys { try keys().save(set) }
        for kept in set.keptNotifications { try inbox.insert(kept) }
        for entry in set.history { try history.append(entry) }
        var (allEvents, allAudit) = (set.events, set.audit)
        if let ending = GrantEnding(of: set) {
            let ended = try oauth().carryOut(ending, allEvents, using: &generator)
            allEvents = ended.events
            allAudit += ended.audit
        }
        try appendAudit(allAudit)
        // The events are appended last, so that the connection's last row ID belongs to the last event.
        for event in allEvents {
            try events.append(event, subjectRowID: try present(places[set.position(of: event)]).rowID)
        }
        return !allEvents.isEmpty
    }

    /// Returns the location. Throws for a subject without a row, because its change must not be lost
    /// silently.
    private func present(_ place: SubjectPlace?) throws -> SubjectPlace {
        guard let place else {
            throw StorageError(
                .corrupted, detail: "expected a row for a subject of the batch, found none; restore a backup")
        }
        return place
    }
}

/// The most recently written or looked-up subjects, so that a user's repeated sign-ins do not read them
/// again.
///
/// The cache sees its own connection's writes, and must be emptied after a write by another connection or
/// program. The number of subjects is limited, and each takes half a kilobyte. SQLite's own cache would hold
/// a whole page of the file instead, which uses eight times the memory and rarely contains another subject
/// that is needed soon. Subjects that were not used in the last round are replaced first.
struct RecentSubjects {
    private struct Entry {
        var record: SubjectRecord
        var place: SubjectPlace
        var wasAskedFor: Bool
    }

    private let capacity: Int
    private var entries: [Entry] = []
    private var index: [SubjectKey: Int] = [:]
    private var hand = 0

    /// Maximum number of subjects, which take some ten megabytes.
    static let capacity = 16384

    init(capacity: Int) {
        precondition(capacity > 0, "the capacity must be positive")
        self.capacity = capacity
    }

    var count: Int { index.count }

    mutating func find(_ key: SubjectKey) -> (record: SubjectRecord, place: SubjectPlace)? {
        guard let position = index[key] else { return nil }
        entries[position].wasAskedFor = true
        return (entries[position].record, entries[position].place)
    }

    mutating func keep(_ record: SubjectRecord, at place: SubjectPlace) {
        if let position = index[record.key] {
            (entries[position].record, entries[position].place) = (record, place)
        } else if entries.count < capacity {
            index[record.key] = entries.count
            entries.append(Entry(record: record, place: place, wasAskedFor: false))
        } else {
            let position = makeRoom()
            index[record.key] = position
            entries[position] = Entry(record: record, place: place, wasAskedFor: false)
        }
    }

    mutating func removeAll() {
        self = RecentSubjects(capacity: capacity)
    }

    private mutating func makeRoom() -> Int {
        while entries[hand].wasAskedFor {
            entries[hand].wasAskedFor = false
            hand = (hand + 1) % capacity
        }
        defer { hand = (hand + 1) % capacity }
        index[entries[hand].record.key] = nil
        return hand
    }
}
