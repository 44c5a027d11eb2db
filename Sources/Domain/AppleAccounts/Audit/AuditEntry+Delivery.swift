extension AuditEntry {
    /// The entry about a receiver of events that was resumed, by the party that asks now.
    package static func resumed(_ name: ReceiverName, at moment: Moment) -> AuditEntry {
        AuditEntry(.deliveryResumed, by: .current, at: moment, detail: name.rawValue)
    }

    /// The entry about a receiver of events that gets events again, by the party that asks now.
    package static func replayed(_ name: ReceiverName, after cursor: Int64, at moment: Moment) -> AuditEntry {
        AuditEntry(
            .deliveryReplayed, by: .current, at: moment, detail: "\(name.rawValue) after event \(cursor)")
    }
}
