"""Robot files that change another description: links made flexible, joints with drives and springs."""
