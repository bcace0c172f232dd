@_exported public import RevisionTree
@_exported public import SettleDatabase
@_exported public import SettleReplication
