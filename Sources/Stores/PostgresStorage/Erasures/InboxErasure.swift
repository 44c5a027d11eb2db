import AppleAccounts
import SQLTables

/// Removes a user from the notification inbox.
enum InboxErasure {
    // One notification can be about several users, so its rows are locked in one order. OFFSET 0 makes the
    // planner look once for each app, instead of reading the whole inbox when it expects many apps.
    private static let forgetPayloads = TypedStatement<String, String>("forget_payloads") {
        subject, payload in
        """
        WITH told AS MATERIALIZED (
            SELECT n.id FROM notification n WHERE n.id = ANY (ARRAY (
                SELECT key.notification_id FROM app CROSS JOIN LATERAL (
                    SELECT e.notification_id FROM notification_event e
                    WHERE e.app_id = app.id AND e.sub = \(subject) OFFSET 0
                ) key))
            ORDER BY n.id FOR UPDATE OF n
        )
        UPDATE notification n SET \(NotificationTable.clearing(payload: "\(payload)"))
        FROM told WHERE n.id = told.id
        """
    }
    private static let forgetKeys = TypedStatement<String>("forget_keys") {
        "DELETE FROM notification_event WHERE app_id IN (SELECT id FROM app) AND sub = \($0)"
    }

    /// Removes the notifications about this `sub`. The keys are found through the apps, which are few.
    static func calls(_ subject: AppleSubject) -> [PostgresCall] {
        [
            forgetPayloads(subject.rawValue, KeptNotification.erasedPayload), forgetKeys(subject.rawValue),
        ]
    }
}
