import Settle

let database = try Database.inMemory()
database.addValidation("task") { context in
    if context.newRevision.isDeleted { return }
    try context.disallowChanges(to: ["owner"])
    guard context.newRevision["title"]?.string != nil else {
        throw DocumentRejection(message: "a task needs a title")
    }
}
do {
    try database.save(Document(id: "t1"), onConflict: .fail)
} catch let error as DatabaseError where error.code == .refused {
    print(error.cause as? DocumentRejection ?? DocumentRejection())
}
